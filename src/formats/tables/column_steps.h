// Steps that turn a column's number into what a model reads, equal to scikit-learn's transformers.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace whyformer {

struct StandardStep {  // (x - mean) / scale
  static constexpr std::string_view kOp = "standard";
  double mean = 0, scale = 1;
};
struct AffineStep {  // x · times + plus
  static constexpr std::string_view kOp = "affine";
  double times = 1, plus = 0;
};
struct MinMaxStep {  // x · scale + min
  static constexpr std::string_view kOp = "min-max";
  double min = 0, scale = 1;
  bool clip = false;
  double least = 0, most = 1;  // where it clips
};
struct RobustStep {  // (x - center) / scale
  static constexpr std::string_view kOp = "robust";
  double center = 0, scale = 1;
};
// Of the values of the training rows, by interpolation between their quantiles, which do not fall.
struct QuantileStep {
  static constexpr std::string_view kOp = "quantile";
  bool to_normal = false;  // else uniform
  std::vector<double> quantiles = {}, references = {};
};
struct PowerStep {  // then (x - mean) / scale
  static constexpr std::string_view kOp = "power";
  bool box_cox = false;  // else Yeo-Johnson
  double lambda = 1, mean = 0, scale = 1;
};
struct Log1pStep {
  static constexpr std::string_view kOp = "log1p";
};
struct ClipStep {
  static constexpr std::string_view kOp = "clip";
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};
// The index of the bin. `edges` has the outer ones, too, but what lies outside is in the first or
// the last bin.
struct BinsStep {
  static constexpr std::string_view kOp = "bins";
  std::vector<double> edges = {};
};
struct BatchNormStep {
  static constexpr std::string_view kOp = "batch-norm";
  double mean = 0, variance = 1, epsilon = 1e-5, weight = 1, bias = 0;
};
// What a cell without a value is at this point, where it is not filled in before the steps.
struct FillStep {
  static constexpr std::string_view kOp = "fill";
  double value = 0;
};
// Several places, of which the one with the number of the category (or bin) is on. An id without a
// place, such as that of a category that was dropped, leaves all of them off.
struct OneHotStep {
  static constexpr std::string_view kOp = "one-hot";
  std::vector<double> off = {}, on = {};  // for each place; empty: 0 and 1
};
// A further place that tells whether the cell is missing.
struct IndicatorStep {
  static constexpr std::string_view kOp = "indicator";
  double off = 0, on = 1;
};

using ColumnStep =
    std::variant<StandardStep, AffineStep, MinMaxStep, RobustStep, QuantileStep, PowerStep,
                 Log1pStep, ClipStep, BinsStep, BatchNormStep, FillStep, OneHotStep, IndicatorStep>;

std::string_view op_of(const ColumnStep& step);

// What a step makes of a number, in double precision. NaN stays NaN but for FillStep, and comes
// where a step is not defined: log1p below -1, Box-Cox of what is not positive. One-hot and
// indicator leave the number.
double after_step(const ColumnStep& step, double x);

}  // namespace whyformer
