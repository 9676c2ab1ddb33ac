#include "formats/tables/column_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/normal_quantile.h"

namespace whyformer {
namespace {

// numpy.interp at one point: flat outside, and the right one of equal points.
double interpolated(double x, std::span<const double> points, std::span<const double> values) {
  const size_t right = std::upper_bound(points.begin(), points.end(), x) - points.begin();
  if (right == 0) return values.front();
  const size_t left = right - 1;
  if (right == points.size() || points[left] == x) return values[left];
  const double slope = (values[right] - values[left]) / (points[right] - points[left]);
  return slope * (x - points[left]) + values[left];
}

// -numpy.interp(-x) with points and values negated, in reverse order: the left one of equal points.
double interpolated_from_right(double x, std::span<const double> points,
                               std::span<const double> values) {
  const size_t right = std::lower_bound(points.begin(), points.end(), x) - points.begin();
  if (right == points.size()) return values.back();
  if (right == 0 || points[right] == x) return values[right];
  const size_t left = right - 1;
  const double slope = (values[right] - values[left]) / (points[right] - points[left]);
  return slope * (x - points[right]) + values[right];
}

double after(const StandardStep& step, double x) { return (x - step.mean) / step.scale; }
double after(const AffineStep& step, double x) { return x * step.times + step.plus; }
double after(const MinMaxStep& step, double x) {
  const double scaled = x * step.scale + step.min;
  return step.clip ? std::clamp(scaled, step.least, step.most) : scaled;
}
double after(const RobustStep& step, double x) { return (x - step.center) / step.scale; }

// QuantileTransformer._transform_col. For a normal distribution the ends are tested with a margin,
// and both tests are made before the interpolation; where both hold, the lower end wins.
double after(const QuantileStep& step, double x) {
  constexpr double kMargin = 1e-7;
  // scipy's norm.ppf(1e-7 - 2^-52) and norm.ppf(1 - (1e-7 - 2^-52)).
  constexpr double kLeast = -5.199337582605575, kMost = 5.19933758270342;
  const double first = step.quantiles.front(), last = step.quantiles.back();
  const double between = 0.5 * (interpolated(x, step.quantiles, step.references) +
                                interpolated_from_right(x, step.quantiles, step.references));
  if (!step.to_normal) return x == first ? 0 : x == last ? 1 : between;
  if (x - kMargin < first) return kLeast;
  if (x + kMargin > last) return kMost;
  return std::clamp(normal_quantile(between), kLeast, kMost);
}

double yeo_johnson(double x, double lambda) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  if (x >= 0) {
    return std::abs(lambda) < kEpsilon ? std::log1p(x)
                                       : std::expm1(lambda * std::log1p(x)) / lambda;
  }
  const double rest = 2 - lambda;
  return std::abs(rest) < kEpsilon ? -std::log1p(-x) : -std::expm1(rest * std::log1p(-x)) / rest;
}

double box_cox(double x, double lambda) {
  if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::abs(lambda) < 1e-19 ? std::log(x) : std::expm1(lambda * std::log(x)) / lambda;
}

double after(const PowerStep& step, double x) {
  const double bent = step.box_cox ? box_cox(x, step.lambda) : yeo_johnson(x, step.lambda);
  return (bent - step.mean) / step.scale;
}

double after(const Log1pStep&, double x) { return std::log1p(x); }
double after(const ClipStep& step, double x) { return std::clamp(x, step.least, step.most); }

// KBinsDiscretizer.transform: a value on an inner edge is in the bin above it.
double after(const BinsStep& step, double x) {
  const std::span<const double> inner = std::span(step.edges).subspan(1, step.edges.size() - 2);
  return static_cast<double>(std::upper_bound(inner.begin(), inner.end(), x) - inner.begin());
}

double after(const BatchNormStep& step, double x) {
  return (x - step.mean) / std::sqrt(step.variance + step.epsilon) * step.weight + step.bias;
}

double after(const FillStep& step, double x) { return std::isnan(x) ? step.value : x; }
double after(const OneHotStep&, double x) { return x; }
double after(const IndicatorStep&, double x) { return x; }

}  // namespace

std::string_view op_of(const ColumnStep& step) {
  return std::visit([](const auto& kind) { return kind.kOp; }, step);
}

double after_step(const ColumnStep& step, double x) {
  if (std::isnan(x) && !std::holds_alternative<FillStep>(step)) return x;
  return std::visit([x](const auto& kind) { return after(kind, x); }, step);
}

}  // namespace whyformer
