#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "games/enumeration.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

// Of the matrix: a gigabyte of doubles.
constexpr int64_t kMostNumbers = int64_t{1} << 27;

void check_size(const Game& game) {
  const auto players = static_cast<double>(game.players()),
             outputs = static_cast<double>(game.outputs());
  if (players * players * outputs <= kMostNumbers) return;
  throw InvalidInput(fmt::format(
      "Interactions of {} players for {} outputs are more than {} numbers; explain fewer "
      "outputs or group the players",
      players, outputs, kMostNumbers));
}

// Adds `weight` times a coalition's value to the matrix where i meets j.
void add(double weight, const double* value, int64_t outputs, double* to) {
  for (int64_t output = 0; output < outputs; ++output) to[output] += weight * value[output];
}

}  // namespace

// Off the diagonal: sum over T without i and j of w(|T|) (v(T+ij) - v(T+i) - v(T+j) + v(T)).
InteractionValues shapley_taylor(Game& game, const InteractionOptions& options,
                                 const Watch& watch) {
  check_size(game);
  Enumeration all(game, options.max_evals, watch, "Shapley-Taylor values");
  const std::vector<int64_t>& varying = all.varying();
  const int64_t outputs = all.asker().outputs(), row = game.players() * outputs;
  const auto players = static_cast<int64_t>(varying.size());
  const std::vector<double> weights = shapley_weights(players);
  InteractionValues result;
  result.values.resize(game.players() * row);
  const auto cell = [&](int64_t i, int64_t j) {
    return result.values.data() + varying[i] * row + varying[j] * outputs;
  };

  all.each([&](uint64_t members, const double* value) {
    const int size = std::popcount(members);
    if (size == 0) result.base.assign(value, value + outputs);
    if (size == players) result.full.assign(value, value + outputs);
    for (int64_t i = 0; i < players; ++i) {
      const int has_i = members >> i & 1;
      if (has_i && size == 1) add(1, value, outputs, cell(i, i));
      if (size == 0) add(-1, value, outputs, cell(i, i));
      for (int64_t j = i + 1; j < players; ++j) {
        const int both = has_i + static_cast<int>(members >> j & 1);
        add(both == 1 ? -weights[size - 1] : weights[size - both], value, outputs, cell(i, j));
      }
    }
  });
  for (int64_t i = 0; i < players; ++i) {
    for (int64_t j = 0; j < i; ++j) std::copy_n(cell(j, i), outputs, cell(i, j));
  }
  result.evaluations = all.asker().asked();
  check_additivity({.base = result.base, .full = result.full, .values = result.values});
  return result;
}

}  // namespace whyformer
