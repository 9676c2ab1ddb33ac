#include "games/batched_game.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "whyformer/error.h"

namespace whyformer {

BatchedGame::BatchedGame(Game& game, const Watch& watch, int64_t total)
    : game_(game), watch_(watch), total_(total) {}

bool BatchedGame::ask(std::span<const Coalition> coalitions, std::vector<double>& values) {
  const size_t most = std::max<int64_t>(1, game_.most_at_once());
  for (size_t begin = 0; begin < coalitions.size(); begin += most) {
    const auto batch = coalitions.subspan(begin, std::min(most, coalitions.size() - begin));
    const std::vector<double> got = game_.values({batch.begin(), batch.end()});
    if (got.size() != batch.size() * game_.outputs()) {
      throw Error(fmt::format("asking a game for {} coalitions: expected {} values, got {}",
                              batch.size(), batch.size() * game_.outputs(), got.size()));
    }
    for (const double value : got) {
      if (!std::isfinite(value)) {
        throw InvalidInput(
            "a coalition is worth infinity or NaN: check the model's output on hidden inputs");
      }
    }
    values.insert(values.end(), got.begin(), got.end());
    evaluations_ += static_cast<int64_t>(batch.size());
    if (watch_ && !watch_(evaluations_, std::max(evaluations_, total_))) return false;
  }
  return true;
}

std::vector<int64_t> varying_players(const Game& game) {
  const std::vector<bool> varying = game.varying();
  std::vector<int64_t> players;
  for (size_t player = 0; player < varying.size(); ++player) {
    if (varying[player]) players.push_back(static_cast<int64_t>(player));
  }
  return players;
}

Coalition among_all(const Coalition& varying, const std::vector<int64_t>& players, int64_t all) {
  if (static_cast<int64_t>(players.size()) == all) return varying;
  Coalition coalition(all, true);
  for (size_t i = 0; i < players.size(); ++i) coalition[players[i]] = varying[i];
  return coalition;
}

}  // namespace whyformer
