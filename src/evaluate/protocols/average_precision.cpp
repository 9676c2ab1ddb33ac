#include "evaluate/protocols/average_precision.h"

#include <algorithm>

#include "evaluate/ranks.h"

namespace whyformer {

double average_precision(std::span<const double> scores, const std::vector<bool>& truth) {
  const auto positives = static_cast<double>(std::ranges::count(truth, true));
  if (positives == 0) return 0;
  const std::vector<int64_t> order = descending_order(scores);
  double found = 0, found_before = 0, sum = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    found += truth[order[i]] ? 1 : 0;
    const bool last_of_ties = i + 1 == order.size() || scores[order[i + 1]] != scores[order[i]];
    if (!last_of_ties) continue;
    sum += (found - found_before) / positives * found / static_cast<double>(i + 1);
    found_before = found;
  }
  return sum;
}

}  // namespace whyformer
