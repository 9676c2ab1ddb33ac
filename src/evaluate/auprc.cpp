#include "evaluate/metric.h"
#include "evaluate/segments.h"

namespace whyformer {
namespace {

// One point for each different score, from the highest down, after (0, 1).
double area_under_precision(std::span<const double> scores, const std::vector<bool>& region) {
  const auto inside = static_cast<double>(count_cells(region));
  const std::vector<int64_t> order = descending_order(scores);
  std::vector<double> recall{0}, precision{1};
  double taken = 0, found = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    ++taken;
    if (region[order[i]]) ++found;
    if (i + 1 < order.size() && scores[order[i + 1]] == scores[order[i]]) continue;
    recall.push_back(found / inside);
    precision.push_back(found / taken);
  }
  return area_under(recall, precision);
}

}  // namespace

// ERASER's: the trapezoids of scikit-learn's precision_recall_curve, not its average_precision,
// which is a sum of steps.
const Metric kAuprc{
    {.name = "auprc",
     .summary =
         "area under precision over recall while the scores' threshold falls, by trapezoids; "
         "mean over maps",
     .paper = "DeYoung et al., ACL 2020 (ERASER)",
     .misleads = "constant scores reach (1 + share of the region) / 2, because the curve begins at "
                 "precision 1; compare with random rankings"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      if (count_cells(region) == 0) return std::vector<Ratio>{Ratio{}};
      return std::vector<Ratio>{{area_under_precision(scores, region), 1}};
    }};

}  // namespace whyformer
