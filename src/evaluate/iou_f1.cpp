#include <algorithm>

#include "evaluate/metric.h"
#include "evaluate/segments.h"

namespace whyformer {
namespace {

bool overlap_by_half(const CellRun& a, const CellRun& b) {
  const int64_t both = std::min(a.end, b.end) - std::max(a.begin, b.begin);
  const int64_t either = (a.end - a.begin) + (b.end - b.begin) - both;
  return both > 0 && 2 * both >= either;
}

}  // namespace

// With m chosen runs that match, F1 of m / chosen and m / known. Summed over maps before the
// division it is ERASER's micro-average.
const Metric kIouF1{
    {.name = "iou-f1",
     .summary = "F1 of runs of neighbouring units: a run of the highest-ranked units (as many as "
                "the region has) is right where its intersection over union with a run of the "
                "region is at least 0.5; runs summed over maps before the division",
     .paper = "DeYoung et al., ACL 2020 (ERASER)",
     .misleads = "neighbours are those in the order of the input, which is made for texts: in a "
                 "picture, runs go along its rows"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      const std::vector<CellRun> known = runs_of(region);
      const std::vector<CellRun> chosen = runs_of(largest_cells(scores, count_cells(region)));
      const auto matches = std::ranges::count_if(chosen, [&](const CellRun& one) {
        return std::ranges::any_of(known,
                                   [&](const CellRun& run) { return overlap_by_half(one, run); });
      });
      return std::vector<Ratio>{
          {2 * static_cast<double>(matches), static_cast<double>(chosen.size() + known.size())}};
    },
    OverMaps::kRatioOfSums};

}  // namespace whyformer
