#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "graph/op_abilities.h"
#include "ops/helpers.h"
#include "ops/interpolation.h"
#include "ops/pictures.h"

namespace whyformer {
namespace {

// Which positions of an input axis one output position reads, and how much of each.
struct PositionTaps {
  std::vector<std::pair<int64_t, double>> taps;
  bool outside = false;  // of the cropped region
};

// The taps of one axis. Coordinates are computed in single precision, as the runtimes do whose
// rounding decides which neighbour is nearest.
class AxisTaps {
 public:
  AxisTaps(int64_t from, int64_t to, double scale, double roi_start, double roi_end,
           const ResizeOptions& options)
      : from_(from),
        to_(to),
        scale_(static_cast<float>(scale)),
        roi_start_(static_cast<float>(roi_start)),
        roi_end_(static_cast<float>(roi_end)),
        options_(options) {}

  PositionTaps at(int64_t position) const {
    const float x = coordinate(static_cast<float>(position));
    PositionTaps result;
    result.outside = options_.coordinates == ResizeCoordinates::kCrop &&
                     (x < 0 || x > static_cast<float>(from_ - 1));
    if (options_.mode == ResizeMode::kNearest) {
      result.taps.emplace_back(std::clamp<int64_t>(nearest(x), 0, from_ - 1), 1.0);
    } else {
      result.taps = weighed(x);
    }
    return result;
  }

 private:
  float coordinate(float x) const {
    const auto from = static_cast<float>(from_), to = static_cast<float>(to_);
    switch (options_.coordinates) {
      case ResizeCoordinates::kHalfPixel:
        return (x + 0.5f) / scale_ - 0.5f;
      case ResizeCoordinates::kHalfPixelSymmetric: {
        const float adjustment = to / (scale_ * from);
        return from / 2 * (1 - adjustment) + (x + 0.5f) / scale_ - 0.5f;
      }
      case ResizeCoordinates::kPytorchHalfPixel:
        return to_ > 1 ? (x + 0.5f) / scale_ - 0.5f : 0.0f;
      case ResizeCoordinates::kAsymmetric:
        return x / scale_;
      case ResizeCoordinates::kAlignCorners:
        return to_ == 1 ? 0 : x * (from - 1) / (to - 1);
      case ResizeCoordinates::kCrop:
        return to_ > 1
                   ? roi_start_ * (from - 1) + x * (roi_end_ - roi_start_) * (from - 1) / (to - 1)
                   : 0.5f * (roi_start_ + roi_end_) * (from - 1);
    }
    return x;
  }

  int64_t nearest(float x) const {
    switch (options_.rounding) {
      case ResizeRounding::kPreferFloor:
        return static_cast<int64_t>(std::ceil(x - 0.5f));
      case ResizeRounding::kPreferCeil:
        return static_cast<int64_t>(std::floor(x + 0.5f));
      case ResizeRounding::kFloor:
        return static_cast<int64_t>(std::floor(x));
      case ResizeRounding::kCeil:
        return static_cast<int64_t>(std::ceil(x));
    }
    return 0;
  }

  // A kernel around x; when shrinking with antialias it is widened to cover what disappears.
  std::vector<std::pair<int64_t, double>> weighed(float x) const {
    const bool cubic = options_.mode == ResizeMode::kCubic;
    const double widening = options_.antialias ? std::min<double>(scale_, 1) : 1;
    const double reach = (cubic ? 2 : 1) / widening;
    const double floor = std::floor(x);
    std::vector<std::pair<int64_t, double>> taps;
    double sum = 0;
    const auto first = static_cast<int64_t>(floor + std::floor(-reach) + 1);
    const auto last = static_cast<int64_t>(floor + std::ceil(reach));
    for (int64_t i = first; i <= last; ++i) {
      const double distance = std::abs(static_cast<double>(i) - x) * widening;
      double weight =
          cubic ? cubic_weight(distance, options_.cubic_a) : std::max(0.0, 1 - distance);
      if (options_.exclude_outside && (i < 0 || i >= from_)) weight = 0;
      if (weight == 0) continue;
      sum += weight;
      taps.emplace_back(std::clamp<int64_t>(i, 0, from_ - 1), weight);
    }
    if (options_.exclude_outside || options_.antialias) {
      for (auto& [index, weight] : taps) weight /= sum;
    }
    return taps;
  }

  int64_t from_, to_;
  float scale_, roi_start_, roi_end_;
  const ResizeOptions& options_;
};

// Interpolation axis by axis: y = (W₀ ⊗ W₁ ⊗ …)·x; outside a cropped region a constant.
class ResizeOp final : public ops::Resize, public StoresShape {
 public:
  ResizeOp(Shape lengths, std::vector<double> scales, ResizeOptions options)
      : lengths_(std::move(lengths)), scales_(std::move(scales)), options_(std::move(options)) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    const Shape& input = inputs[0].shape;
    const size_t rank = input.size();
    if (lengths_.size() != rank || scales_.size() != rank ||
        (!options_.roi.empty() && options_.roi.size() != 2 * rank)) {
      throw InvalidInput(
          fmt::format("an input {} cannot become {} with {} scales and {} limits of a region",
                      to_string(input), to_string(lengths_), scales_.size(), options_.roi.size()));
    }
    for (size_t axis = 0; axis < rank; ++axis) {
      if (lengths_[axis] < 0 || (input[axis] == 0 && lengths_[axis] != 0) || !(scales_[axis] > 0)) {
        throw InvalidInput(fmt::format("an input {} cannot become {} with a scale of {}",
                                       to_string(input), to_string(lengths_), scales_[axis]));
      }
    }
    return {{lengths_, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Shape shape = inputs[0].shape();
    Tensor y = inputs[0].contiguous();
    for (size_t axis = 0; axis < lengths_.size(); ++axis) {
      if (!stays(axis, shape)) y = spread(y, axis, shape, false);
    }
    if (is_cropped()) {
      y = y.copy();
      fill_outside(y, shape, options_.extrapolation);
    }
    return {{y}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    const Shape& shape = call.input_types[0].shape;
    Tensor dx = dy[0].contiguous();
    if (is_cropped()) {
      dx = dx.copy();
      fill_outside(dx, shape, 0);
    }
    for (size_t axis = 0; axis < lengths_.size(); ++axis) {
      if (!stays(axis, shape)) dx = spread(dx, axis, shape, true);
    }
    return {dx};
  }

  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted& wanted) const override {
    return Op::relevance(call, relevance, rule_of_fixed_map(rule), wanted);
  }

  bool moves_data() const override { return options_.mode == ResizeMode::kNearest; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    if (!stays(static_cast<size_t>(axis), inputs[0].shape)) return std::nullopt;
    return same_axis(axis);
  }

  std::shared_ptr<const Op> resized(int axis, int64_t length) const override {
    Shape lengths = lengths_;
    lengths[axis] = length;
    return std::make_shared<ResizeOp>(lengths, scales_, options_);
  }

 private:
  bool is_cropped() const { return options_.coordinates == ResizeCoordinates::kCrop; }

  bool stays(size_t axis, const Shape& input) const {
    const size_t rank = lengths_.size();
    const bool whole = !is_cropped() || options_.roi.empty() ||
                       (options_.roi[axis] == 0 && options_.roi[axis + rank] == 1);
    return lengths_[axis] == input[axis] && scales_[axis] == 1 && whole;
  }

  std::vector<PositionTaps> taps_of(size_t axis, const Shape& input) const {
    const size_t rank = lengths_.size();
    const double start = options_.roi.empty() ? 0 : options_.roi[axis];
    const double end = options_.roi.empty() ? 1 : options_.roi[axis + rank];
    const AxisTaps taps(input[axis], lengths_[axis], scales_[axis], start, end, options_);
    std::vector<PositionTaps> result;
    for (int64_t i = 0; i < lengths_[axis]; ++i) result.push_back(taps.at(i));
    return result;
  }

  // One axis from the input's length to the output's, or back.
  Tensor spread(const Tensor& x, size_t axis, const Shape& input, bool back) const {
    const std::vector<PositionTaps> taps = taps_of(axis, input);
    Shape shape = x.shape();
    shape[axis] = back ? input[axis] : lengths_[axis];
    Tensor y = Tensor::zeros(shape, x.dtype());
    const auto split = shape.begin() + static_cast<int64_t>(axis);
    const int64_t inner = element_count({split + 1, shape.end()});
    const int64_t from_length = x.dim(static_cast<int>(axis)), to_length = shape[axis];
    with_float_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* from = x.data<T>();
      T* to = y.mutable_data<T>();
      const int64_t work = inner * std::max(from_length, to_length);
      parallel_for(element_count({shape.begin(), split}), 16384 / (work + 1) + 1,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t outer = begin; outer < end; ++outer) {
                       const T* source = from + outer * from_length * inner;
                       T* target = to + outer * to_length * inner;
                       for (size_t i = 0; i < taps.size(); ++i) {
                         for (const auto& [index, weight] : taps[i].taps) {
                           const int64_t here = static_cast<int64_t>(i) * inner,
                                         there = index * inner;
                           const T* a = source + (back ? here : there);
                           T* b = target + (back ? there : here);
                           const T w = static_cast<T>(weight);
                           for (int64_t k = 0; k < inner; ++k) b[k] += w * a[k];
                         }
                       }
                     }
                   });
    });
    return y;
  }

  void fill_outside(Tensor& y, const Shape& input, double value) const {
    for (size_t axis = 0; axis < lengths_.size(); ++axis) {
      if (stays(axis, input)) continue;
      const std::vector<PositionTaps> taps = taps_of(axis, input);
      for (size_t i = 0; i < taps.size(); ++i) {
        if (taps[i].outside) {
          y.slice(static_cast<int>(axis), static_cast<int64_t>(i), 1).fill(value);
        }
      }
    }
  }

  Shape lengths_;
  std::vector<double> scales_;
  ResizeOptions options_;
};

}  // namespace

Value resize(GraphBuilder& graph, Value x, std::vector<int64_t> lengths, std::vector<double> scales,
             ResizeOptions options, std::string name) {
  return graph.add(
      std::make_shared<ResizeOp>(std::move(lengths), std::move(scales), std::move(options)), {x},
      std::move(name));
}

}  // namespace whyformer
