#include <algorithm>
#include <cmath>

#include "evaluate/magnitudes.h"
#include "evaluate/metric.h"

namespace whyformer {

const Metric kSparseness{.info = {.name = "sparseness",
                                  .summary = "Gini coefficient of the magnitudes of scores",
                                  .paper = "Chalasani et al., ICML 2020",
                                  .higher_is_better = true,
                                  .needs = MetricNeeds::kScores,
                                  .family = MetricFamily::kComplexity,
                                  .misleads = "a sparse explanation need not be right"},
                         .measure = [](const Evidence& evidence) -> std::optional<double> {
                           std::vector<double> sorted = scaled_near_one(evidence.scores);
                           const double sum = sum_of_magnitudes(sorted);
                           if (sum == 0) return std::nullopt;
                           for (double& score : sorted) score = std::abs(score);
                           std::sort(sorted.begin(), sorted.end());
                           const auto count = static_cast<double>(sorted.size());
                           double weighted = 0;
                           for (size_t i = 0; i < sorted.size(); ++i) {
                             weighted += (2 * static_cast<double>(i + 1) - count - 1) * sorted[i];
                           }
                           return weighted / (count * sum);
                         }};

}  // namespace whyformer
