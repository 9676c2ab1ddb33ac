#include "evaluate/keep_remove.h"

#include <algorithm>
#include <cmath>

namespace whyformer {
namespace {

// Between two points of a curve whose points stand at equal distances from 0 to 1.
double read_at(const std::vector<double>& curve, double x) {
  const double place = x * static_cast<double>(curve.size() - 1);
  const auto before = std::min(static_cast<size_t>(place), curve.size() - 2);
  const double share = place - static_cast<double>(before);
  return curve[before] + share * (curve[before + 1] - curve[before]);
}

}  // namespace

double positive_area(const Evidence& evidence, Hide hide) {
  constexpr int64_t kPoints = 100;
  const Ranking ranking = evidence.ranking();
  std::vector<double> curve;
  int64_t positive = 0;
  for (int64_t passed = 0; passed <= static_cast<int64_t>(ranking.size()); ++passed) {
    if (passed > 0 && evidence.scores[ranking[passed - 1]] > 0) ++positive;
    curve.push_back(evidence.answers(hide(ranking, positive)).value);
  }
  std::vector<double> x, rise;
  for (int64_t i = 0; i < kPoints; ++i) {
    x.push_back(static_cast<double>(i) / (kPoints - 1));
    rise.push_back(read_at(curve, x.back()) - curve.front());
  }
  return area_under(x, rise);
}

}  // namespace whyformer
