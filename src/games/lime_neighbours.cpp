#include "games/lime_neighbours.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/numpy_random.h"
#include "base/pulse.h"

namespace whyformer {
namespace {

// First all sizes, then for each row whom to hide.
std::vector<Coalition> hide_words(int64_t samples, int64_t players, uint32_t seed) {
  NumpyRandom random(seed);
  std::vector<int64_t> hidden(samples);
  for (int64_t row = 1; row < samples; ++row) hidden[row] = 1 + random.up_to(players - 1);
  std::vector<Coalition> rows(samples, Coalition(players, true));
  for (int64_t row = 1; row < samples; ++row) {
    pulse();
    const std::vector<int64_t> order = random.permutation(players);
    for (int64_t i = 0; i < hidden[row]; ++i) rows[row][order[i]] = false;
  }
  return rows;
}

// One draw goes to the seed of a segmentation, and the first row is drawn before it becomes the
// whole picture.
std::vector<Coalition> toss_coins(int64_t samples, int64_t players, uint32_t seed) {
  NumpyRandom random(seed);
  random.up_to(999);
  std::vector<Coalition> rows(samples, Coalition(players));
  for (Coalition& row : rows) {
    pulse();
    for (int64_t player = 0; player < players; ++player) row[player] = random.up_to(1) == 1;
  }
  rows.front().assign(players, true);
  return rows;
}

double kernel(const Coalition& coalition, double distance_scale, double width) {
  const double visible = static_cast<double>(std::count(coalition.begin(), coalition.end(), true));
  const double distance =
      distance_scale * (1 - std::sqrt(visible / static_cast<double>(coalition.size())));
  return std::sqrt(std::exp(-distance * distance / (width * width)));
}

}  // namespace

LimeRows lime_rows(const LimeOptions& options, int64_t players) {
  const bool words = options.neighbours == LimeNeighbours::kWords;
  const double width = options.kernel_width > 0 ? options.kernel_width : words ? 25 : 0.25;
  const int64_t samples = options.samples > 0 ? options.samples : words ? 5000 : 1000;
  LimeRows result;
  std::unordered_map<Coalition, int64_t> seen;
  for (Coalition& row : words ? hide_words(samples, players, options.seed)
                              : toss_coins(samples, players, options.seed)) {
    pulse();
    const auto [known, is_new] =
        seen.try_emplace(row, static_cast<int64_t>(result.distinct.size()));
    result.draws.push_back(known->second);
    if (!is_new) continue;
    result.weights.push_back(kernel(row, words ? 100 : 1, width));
    result.distinct.push_back(std::move(row));
  }
  return result;
}

}  // namespace whyformer
