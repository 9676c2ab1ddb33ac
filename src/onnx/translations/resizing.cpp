#include "onnx/translations/resizing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/pictures.h"

namespace whyformer::onnx {
namespace {

// What every axis becomes; axes that the node does not name stay.
struct ResizeTarget {
  std::vector<int64_t> lengths;
  std::vector<double> scales;

  explicit ResizeTarget(const Shape& shape) : lengths(shape), scales(shape.size(), 1) {}

  bool is_identity(const Shape& shape) const {
    return lengths == shape &&
           std::all_of(scales.begin(), scales.end(), [](double scale) { return scale == 1; });
  }
};

int64_t checked_length(double length) {
  if (!(length >= 0 && length < 2147483648.0)) {
    throw InvalidInput(fmt::format("an axis would get a length of {}", length));
  }
  return static_cast<int64_t>(length);
}

void take_scales(const Shape& shape, const std::vector<int>& axes,
                 const std::vector<double>& scales, ResizeTarget& target) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto scale = static_cast<float>(scales[i]);
    target.scales[axes[i]] = scale;
    target.lengths[axes[i]] =
        checked_length(std::floor(static_cast<float>(shape[axes[i]]) * scale));
  }
}

void take_sizes(NodeScope& scope, const Shape& shape, const std::vector<int>& axes,
                const std::vector<int64_t>& sizes, ResizeTarget& target) {
  const std::string policy = scope.text("keep_aspect_ratio_policy", "stretch");
  std::vector<float> scales;
  for (size_t i = 0; i < axes.size(); ++i) {
    scales.push_back(static_cast<float>(sizes[i]) / static_cast<float>(shape[axes[i]]));
    target.lengths[axes[i]] = checked_length(static_cast<double>(sizes[i]));
    target.scales[axes[i]] = scales[i];
  }
  if (policy == "stretch" || axes.empty()) return;
  if (policy != "not_larger" && policy != "not_smaller") {
    scope.fail(fmt::format("keeps the aspect ratio by the policy '{}'", policy));
  }
  const auto [least, most] = std::minmax_element(scales.begin(), scales.end());
  const float scale = policy == "not_larger" ? *least : *most;
  for (const int axis : axes) {
    target.scales[axis] = scale;
    target.lengths[axis] = checked_length(
        std::floor(static_cast<double>(scale) * static_cast<double>(shape[axis]) + 0.5));
  }
}

ResizeMode mode_of(NodeScope& scope) {
  const std::string mode = scope.text("mode", "nearest");
  if (mode == "nearest") return ResizeMode::kNearest;
  if (mode == "linear" || mode == "bilinear") return ResizeMode::kLinear;
  if (mode == "cubic") return ResizeMode::kCubic;
  scope.fail(fmt::format("resizes in mode '{}'", mode));
}

ResizeCoordinates coordinates_of(NodeScope& scope) {
  const std::string name = scope.text("coordinate_transformation_mode", "half_pixel");
  if (name == "half_pixel") return ResizeCoordinates::kHalfPixel;
  if (name == "half_pixel_symmetric") return ResizeCoordinates::kHalfPixelSymmetric;
  if (name == "pytorch_half_pixel") return ResizeCoordinates::kPytorchHalfPixel;
  if (name == "asymmetric") return ResizeCoordinates::kAsymmetric;
  if (name == "align_corners") return ResizeCoordinates::kAlignCorners;
  if (name == "tf_crop_and_resize") return ResizeCoordinates::kCrop;
  scope.fail(fmt::format("has coordinates '{}'", name));
}

ResizeRounding rounding_of(NodeScope& scope) {
  const std::string name = scope.text("nearest_mode", "round_prefer_floor");
  if (name == "round_prefer_floor") return ResizeRounding::kPreferFloor;
  if (name == "round_prefer_ceil") return ResizeRounding::kPreferCeil;
  if (name == "floor") return ResizeRounding::kFloor;
  if (name == "ceil") return ResizeRounding::kCeil;
  scope.fail(fmt::format("rounds by '{}'", name));
}

std::vector<double> region_of(NodeScope& scope, const std::vector<int>& axes) {
  const size_t rank = static_cast<size_t>(scope.rank(0));
  std::vector<double> region(2 * rank, 0);
  std::fill(region.begin() + static_cast<int64_t>(rank), region.end(), 1.0);
  const std::vector<double> given =
      scope.has(1) ? scope.needed(1).to_doubles() : std::vector<double>{};
  if (given.size() != 2 * axes.size()) {
    throw InvalidInput(fmt::format("{} limits of a region for {} axes", given.size(), axes.size()));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    region[axes[i]] = given[i];
    region[axes[i] + rank] = given[i + axes.size()];
  }
  return region;
}

std::vector<int> axes_of(NodeScope& scope) {
  std::vector<int> axes;
  for (const int64_t axis : scope.integer_list("axes")) {
    axes.push_back(scope.axis(axis, scope.rank(0)));
  }
  if (axes.empty()) {
    axes.resize(scope.rank(0));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

// Before opset 11 there is no choice of coordinates, and the specification does not say which is
// the nearest: ONNX Runtime takes the one before along axes that grow and the one after along those
// that shrink. Axes can go one after the other.
std::vector<Value> resize_as_of_old(NodeScope& scope, const std::vector<double>& scales) {
  const Shape shape = scope.shape(0);
  if (scales.size() != shape.size()) {
    throw InvalidInput(fmt::format("{} scales for an input {}", scales.size(), to_string(shape)));
  }
  ResizeTarget target(shape);
  std::vector<int> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  take_scales(shape, axes, scales, target);
  Value x = scope.input(0);
  for (const auto rounding : {ResizeRounding::kFloor, ResizeRounding::kCeil}) {
    ResizeTarget step(scope.graph().shape(x));
    for (size_t axis = 0; axis < scales.size(); ++axis) {
      if ((scales[axis] < 1) != (rounding == ResizeRounding::kCeil)) continue;
      step.lengths[axis] = target.lengths[axis];
      step.scales[axis] = target.scales[axis];
    }
    if (step.is_identity(scope.graph().shape(x))) continue;
    x = resize(scope.graph(), x, step.lengths, step.scales,
               {.mode = mode_of(scope),
                .coordinates = ResizeCoordinates::kAsymmetric,
                .rounding = rounding},
               scope.name());
  }
  return {x};
}

}  // namespace

std::vector<Value> translate_resize(NodeScope& scope) {
  if (scope.opset() < 11) return resize_as_of_old(scope, scope.needed(1).to_doubles());
  const Shape shape = scope.shape(0);
  const std::vector<int> axes = axes_of(scope);
  ResizeTarget target(shape);
  const std::vector<double> scales =
      scope.has(2) ? scope.needed(2).to_doubles() : std::vector<double>{};
  const std::vector<int64_t> sizes = scope.has(3) ? scope.integers(3) : std::vector<int64_t>{};
  if (scales.size() == axes.size() && sizes.empty()) {
    take_scales(shape, axes, scales, target);
  } else if (sizes.size() == axes.size()) {
    take_sizes(scope, shape, axes, sizes, target);
  } else {
    throw InvalidInput(fmt::format("{} scales and {} sizes for {} axes", scales.size(),
                                   sizes.size(), axes.size()));
  }
  ResizeOptions options{.mode = mode_of(scope),
                        .coordinates = coordinates_of(scope),
                        .rounding = rounding_of(scope),
                        .cubic_a = scope.real("cubic_coeff_a", -0.75),
                        .exclude_outside = scope.integer("exclude_outside", 0) != 0,
                        .antialias = scope.integer("antialias", 0) != 0,
                        .extrapolation = scope.real("extrapolation_value", 0)};
  const bool crops = options.coordinates == ResizeCoordinates::kCrop;
  if (crops) options.roi = region_of(scope, axes);
  if (!crops && target.is_identity(shape)) return {scope.input(0)};
  return {
      resize(scope.graph(), scope.input(0), target.lengths, target.scales, options, scope.name())};
}

std::vector<Value> translate_upsample(NodeScope& scope) {
  const std::vector<double> given = scope.real_list("scales");
  return resize_as_of_old(scope, given.empty() ? scope.needed(1).to_doubles() : given);
}

}  // namespace whyformer::onnx
