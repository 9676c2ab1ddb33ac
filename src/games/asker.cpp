#include "games/asker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "whyformer/error.h"

namespace whyformer {

Asker::Asker(Game& game, const Watch& watch, int64_t of)
    : game_(game),
      watch_(watch),
      of_(of),
      players_(game.players()),
      outputs_(game.outputs()),
      at_once_(std::max<int64_t>(1, game.max_at_once())) {
  if (outputs_ < 1)
    throw InvalidInput("Explaining a game: it has no outputs; give it at least one");
}

template <class AskBatch>
std::vector<double> Asker::in_batches(int64_t count, const AskBatch& ask_batch) {
  std::vector<double> all;
  for (int64_t first = 0; first < count && !stopped_; first += at_once_) {
    const int64_t last = std::min(count, first + at_once_);
    std::vector<double> values;
    try {
      values = ask_batch(first, last);
    } catch (const Interrupted&) {
      stopped_ = true;  // the game itself noticed, in the middle of a batch
      break;
    }
    check(values, last - first);
    all.insert(all.end(), values.begin(), values.end());
    asked_ += last - first;
    stopped_ = watch_ && !watch_(asked_, std::max(asked_, of_));
  }
  return all;
}

std::vector<double> Asker::ask(const std::vector<Coalition>& coalitions) {
  const auto count = static_cast<int64_t>(coalitions.size());
  return in_batches(count, [&](int64_t first, int64_t last) {
    if (last - first == count) return game_.values(coalitions);
    return game_.values({coalitions.begin() + first, coalitions.begin() + last});
  });
}

std::vector<double> Asker::ask(const std::vector<Coalition>& coalitions,
                               const std::vector<int64_t>& background) {
  return in_batches(static_cast<int64_t>(coalitions.size()), [&](int64_t first, int64_t last) {
    return game_.values({coalitions.begin() + first, coalitions.begin() + last},
                        {background.begin() + first, background.begin() + last});
  });
}

bool Asker::ask(const std::vector<Coalition>& coalitions, std::vector<double>& values) {
  const std::vector<double> got = ask(coalitions);
  values.insert(values.end(), got.begin(), got.end());
  return !stopped_;
}

std::vector<double> Asker::ask_ends() {
  std::vector<double> ends = ask({Coalition(players_, false), Coalition(players_, true)});
  if (static_cast<int64_t>(ends.size()) < 2 * outputs_) throw Interrupted();
  return ends;
}

void Asker::check(const std::vector<double>& values, int64_t coalitions) const {
  if (static_cast<int64_t>(values.size()) != coalitions * outputs_) {
    throw Error(fmt::format(
        "Asking a game about {} coalitions with {} outputs: it answered with {} numbers",
        coalitions, outputs_, values.size()));
  }
  for (size_t at = 0; at < values.size(); ++at) {
    if (std::isfinite(values[at])) continue;
    throw Error(fmt::format(
        "Asking a game: output {} of a coalition is {}, not a finite number; explain another "
        "output, such as a logit instead of a log-probability",
        at % outputs_, values[at]));
  }
}

Coalition among_all(const Coalition& varying, const std::vector<int64_t>& players, int64_t all) {
  if (static_cast<int64_t>(players.size()) == all) return varying;
  Coalition coalition(all, true);
  for (size_t i = 0; i < players.size(); ++i) coalition[players[i]] = varying[i];
  return coalition;
}

std::vector<int64_t> varying_players(const Game& game) {
  const std::vector<bool> varying = game.varying();
  if (static_cast<int64_t>(varying.size()) != game.players()) {
    throw Error(fmt::format("Explaining a game of {} players: it says of {} whether they vary",
                            game.players(), varying.size()));
  }
  std::vector<int64_t> players;
  for (int64_t player = 0; player < game.players(); ++player) {
    if (varying[player]) players.push_back(player);
  }
  return players;
}

void check_target_error(double target_error) {
  if (target_error >= 0) return;
  throw InvalidInput(
      fmt::format("target_error must be 0 (none) or positive but is {}", target_error));
}

GameValues from_ends(Asker& asker, const std::vector<int64_t>& varying) {
  const std::vector<double> ends = asker.ask_ends();
  const int64_t outputs = asker.outputs();
  GameValues result{.base = {ends.begin(), ends.begin() + outputs},
                    .full = {ends.begin() + outputs, ends.end()},
                    .values = std::vector<double>(asker.players() * outputs),
                    .evaluations = asker.asked()};
  if (!varying.empty()) {
    for (int64_t output = 0; output < outputs; ++output) {
      result.values[varying[0] * outputs + output] = result.full[output] - result.base[output];
    }
  }
  check_additivity(result);
  return result;
}

}  // namespace whyformer
