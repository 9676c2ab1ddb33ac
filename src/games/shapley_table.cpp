#include "games/shapley_table.h"

#include <bit>

#include "games/enumeration.h"

namespace whyformer {

std::vector<double> shapley_from_table(const std::vector<double>& table, int64_t players,
                                       int64_t outputs) {
  const std::vector<double> weights = shapley_weights(players);
  std::vector<double> values(players * outputs);
  for (uint64_t coalition = 0; coalition < uint64_t{1} << players; ++coalition) {
    const double weight_without = weights[std::popcount(coalition) % players];
    for (int64_t player = 0; player < players; ++player) {
      const uint64_t with = coalition | uint64_t{1} << player;
      if (with == coalition) continue;
      for (int64_t output = 0; output < outputs; ++output) {
        values[player * outputs + output] +=
            weight_without * (table[with * outputs + output] - table[coalition * outputs + output]);
      }
    }
  }
  return values;
}

}  // namespace whyformer
