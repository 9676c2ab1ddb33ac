#include "evaluate/keep_remove.h"

#include <algorithm>

#include "evaluate/magnitudes.h"

namespace whyformer {
namespace {

// Between two points of a curve whose points stand at equal distances from 0 to 1.
double read_at(const std::vector<double>& curve, double x) {
  const double place = x * static_cast<double>(curve.size() - 1);
  const auto before = std::min(static_cast<size_t>(place), curve.size() - 2);
  const double share = place - static_cast<double>(before);
  return curve[before] + share * (curve[before + 1] - curve[before]);
}

// Units that are not passed over come first.
Ranking curve_order(const Evidence& evidence, CurveUnits units) {
  if (units == CurveUnits::kPositive) return evidence.ranking();
  if (units == CurveUnits::kNegative) return evidence.lowest_first();
  return descending_order(magnitudes_of(evidence.scores));
}

bool takes_part(double score, CurveUnits units) {
  if (units == CurveUnits::kAll) return true;
  return units == CurveUnits::kPositive ? score > 0 : score < 0;
}

}  // namespace

std::optional<double> keep_remove_area(const Evidence& evidence, CurveUnits units, Hide hide) {
  constexpr int64_t kPoints = 100;
  const Ranking ranking = curve_order(evidence, units);
  const int64_t taking_part = std::ranges::count_if(
      evidence.scores, [units](double score) { return takes_part(score, units); });
  if (taking_part == 0) return std::nullopt;
  const auto count = static_cast<int64_t>(ranking.size());
  const auto step = std::max<int64_t>(1, static_cast<int64_t>(0.01 * static_cast<double>(count)));
  std::vector<double> curve{evidence.answers(hide(ranking, 0)).value};
  for (int64_t passed = 0; passed < count;) {
    passed = std::min(count, passed + step);
    curve.push_back(evidence.answers(hide(ranking, std::min(passed, taking_part))).value);
  }
  std::vector<double> x, rise;
  for (int64_t i = 0; i < kPoints; ++i) {
    x.push_back(static_cast<double>(i) / (kPoints - 1));
    rise.push_back(read_at(curve, x.back()) - curve.front());
  }
  return area_under(x, rise);
}

MetricInfo keep_remove_entry(MetricInfo own) {
  own.paper = "Lundberg et al., Nature Machine Intelligence 2020";
  own.needs = MetricNeeds::kAnswers;
  own.family = MetricFamily::kFaithfulness;
  return own;
}

}  // namespace whyformer
