#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.h"
#include "ops/helpers.h"
#include "ops/interpolation.h"
#include "ops/pictures.h"

namespace whyformer {
namespace {

// A coordinate as an input position, and how that moves with the coordinate.
struct SamplePoint {
  double at = 0;
  double slope = 0;
};

SamplePoint reflected(SamplePoint place, double least, double most) {
  const double range = most - least;
  if (range <= 0) return {least, 0};
  const bool below = place.at < least;
  const double past = below ? least - place.at : place.at - most;
  const double turns = std::floor(past / range);
  const double rest = past - turns * range;
  const bool even = std::fmod(turns, 2) == 0;
  return {below == even ? least + rest : most - rest, even ? -place.slope : place.slope};
}

// What one axis contributes at one point: up to four positions (-1 for none), their weights, and
// how the weights change with the coordinate.
struct AxisSample {
  int count = 0;
  std::array<int64_t, 4> index{};
  std::array<double, 4> weight{};
  std::array<double, 4> slope{};
};

class AxisSampler {
 public:
  AxisSampler(int64_t length, ResizeMode mode, GridPadding padding, bool align_corners)
      : length_(static_cast<double>(length)),
        mode_(mode),
        padding_(padding),
        align_corners_(align_corners),
        least_(align_corners ? 0 : -0.5),
        most_(align_corners ? length_ - 1 : length_ - 0.5) {}

  SamplePoint place(double coordinate) const {
    SamplePoint place = align_corners_
                            ? SamplePoint{(coordinate + 1) / 2 * (length_ - 1), (length_ - 1) / 2}
                            : SamplePoint{((coordinate + 1) * length_ - 1) / 2, length_ / 2};
    // No number reads nothing; far away is far enough.
    place.at = std::isnan(place.at) ? -kFar : std::clamp(place.at, -kFar, kFar);
    if (mode_ == ResizeMode::kNearest) place = {std::nearbyint(place.at), 0};
    return place;
  }

  bool is_outside(const SamplePoint& place) const { return place.at < least_ || place.at > most_; }

  // Back into the input, of a point one of whose coordinates is outside. A cubic kernel past the
  // border reads what is there on its inner side, so only its taps are held at the border.
  SamplePoint brought_in(SamplePoint place) const {
    if (padding_ == GridPadding::kBorder && mode_ != ResizeMode::kCubic) {
      const bool inside = place.at >= 0 && place.at <= length_ - 1;
      return {std::clamp(place.at, 0.0, length_ - 1), inside ? place.slope : 0};
    }
    if (padding_ == GridPadding::kReflection && is_outside(place)) {
      return reflected(place, least_, most_);
    }
    return place;
  }

  AxisSample sample(const SamplePoint& place) const {
    AxisSample sample;
    if (mode_ == ResizeMode::kNearest) {
      add(sample, static_cast<int64_t>(std::nearbyint(place.at)), 1, 0);
      return sample;
    }
    const int64_t reach = mode_ == ResizeMode::kCubic ? 2 : 1;
    const auto left = static_cast<int64_t>(std::floor(place.at));
    for (int64_t i = left - reach + 1; i <= left + reach; ++i) {
      const double offset = place.at - static_cast<double>(i), distance = std::abs(offset);
      const double side = i <= left ? 1 : -1;
      if (mode_ == ResizeMode::kCubic) {
        add(sample, i, cubic_weight(distance, kCubic),
            side * cubic_slope(distance, kCubic) * place.slope);
      } else {
        add(sample, i, 1 - distance, -side * place.slope);
      }
    }
    return sample;
  }

 private:
  static constexpr double kFar = 1e9;
  static constexpr double kCubic = -0.75;

  void add(AxisSample& sample, int64_t index, double weight, double slope) const {
    const auto length = static_cast<int64_t>(length_);
    if (index < 0 || index >= length) {
      if (padding_ == GridPadding::kZeros)
        index = -1;
      else if (padding_ == GridPadding::kBorder)
        index = std::clamp<int64_t>(index, 0, length - 1);
      else {
        const double at = reflected({static_cast<double>(index), 0}, least_, most_).at;
        index = std::clamp<int64_t>(static_cast<int64_t>(std::nearbyint(at)), 0, length - 1);
      }
    }
    const auto at = static_cast<size_t>(sample.count++);
    sample.index[at] = index;
    sample.weight[at] = weight;
    sample.slope[at] = slope;
  }

  double length_;
  ResizeMode mode_;
  GridPadding padding_;
  bool align_corners_;
  double least_, most_;
};

// y[n, c, p] = Σ_ij wy_i(g_p) · wx_j(g_p) · x[n, c, i, j]. The grid says where to read: it has a
// gradient but takes no relevance.
class GridSampleOp final : public ops::GridSample {
 public:
  GridSampleOp(ResizeMode mode, GridPadding padding, bool align_corners)
      : mode_(mode), padding_(padding), align_corners_(align_corners) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], inputs[1]);
    with_float_type(inputs[0].dtype, [](auto) {});
    const Shape &x = inputs[0].shape, &grid = inputs[1].shape;
    if (x.size() != 4 || grid.size() != 4 || grid[3] != 2 || grid[0] != x[0] || x[2] < 1 ||
        x[3] < 1) {
      throw InvalidInput(
          fmt::format("a grid {} does not fit an input {}", to_string(grid), to_string(x)));
    }
    return {{{x[0], x[1], grid[1], grid[2]}, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor x = inputs[0].contiguous(), grid = inputs[1].contiguous();
    Tensor y = Tensor::empty({x.dim(0), x.dim(1), grid.dim(1), grid.dim(2)}, x.dtype());
    const int64_t plane = x.dim(2) * x.dim(3), points = grid.dim(1) * grid.dim(2);
    with_float_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* from = x.data<T>();
      T* to = y.mutable_data<T>();
      for_each_point<T>(x.shape(), grid, [&](int64_t n, int64_t p, const Point& at) {
        for (int64_t c = n * x.dim(1); c < (n + 1) * x.dim(1); ++c) {
          double sum = 0;
          at.for_each_tap(x.dim(3), [&](int64_t offset, double weight, double, double) {
            sum += weight * from[c * plane + offset];
          });
          to[c * points + p] = static_cast<T>(sum);
        }
      });
    });
    return {{y}, {}};
  }

  BackwardNeeds backward_needs() const override { return {.inputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    const Tensor x = call.inputs[0].contiguous(), grid = call.inputs[1].contiguous();
    const Tensor from = dy[0].contiguous();
    const int64_t plane = x.dim(2) * x.dim(3), points = grid.dim(1) * grid.dim(2);
    Tensors results(2);
    if (wanted[0]) results[0] = Tensor::zeros(x.shape(), x.dtype());
    if (wanted[1] && mode_ != ResizeMode::kNearest) {
      results[1] = Tensor::zeros(grid.shape(), x.dtype());
    }
    with_float_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* dx = results[0].defined() ? results[0].template mutable_data<T>() : nullptr;
      T* dgrid = results[1].defined() ? results[1].template mutable_data<T>() : nullptr;
      for_each_point<T>(x.shape(), grid, [&](int64_t n, int64_t p, const Point& at) {
        double along_x = 0, along_y = 0;
        for (int64_t c = n * x.dim(1); c < (n + 1) * x.dim(1); ++c) {
          const double d = from.data<T>()[c * points + p];
          at.for_each_tap(x.dim(3),
                          [&](int64_t offset, double weight, double slope_x, double slope_y) {
                            if (dx != nullptr) dx[c * plane + offset] += static_cast<T>(weight * d);
                            along_x += slope_x * d * x.data<T>()[c * plane + offset];
                            along_y += slope_y * d * x.data<T>()[c * plane + offset];
                          });
        }
        if (dgrid == nullptr) return;
        dgrid[(n * points + p) * 2] = static_cast<T>(along_x);
        dgrid[(n * points + p) * 2 + 1] = static_cast<T>(along_y);
      });
    });
    return results;
  }

  Tensors linearised(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    return gradient(call, dy, {wanted[0], false});
  }

  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted& wanted) const override {
    return Op::relevance(call, relevance, rule_of_fixed_map(rule), wanted);
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    if (axis == 0) return AxisFlow{{0, 0}, true};
    if (axis == 1) return AxisFlow{{1, -1}, true};
    return AxisFlow{{-1, axis - 1}, true};
  }

 private:
  struct Point {
    AxisSample x, y;

    template <typename Use>
    void for_each_tap(int64_t width, const Use& use) const {
      for (size_t i = 0; i < static_cast<size_t>(y.count); ++i) {
        for (size_t j = 0; j < static_cast<size_t>(x.count); ++j) {
          if (y.index[i] < 0 || x.index[j] < 0) continue;
          use(y.index[i] * width + x.index[j], y.weight[i] * x.weight[j], y.weight[i] * x.slope[j],
              y.slope[i] * x.weight[j]);
        }
      }
    }
  };

  // Samples in parallel: points of one sample add up in the same input.
  template <typename T, typename Use>
  void for_each_point(const Shape& x, const Tensor& grid, const Use& use) const {
    const int64_t points = grid.dim(1) * grid.dim(2);
    const AxisSampler across(x[3], mode_, padding_, align_corners_);
    const AxisSampler down(x[2], mode_, padding_, align_corners_);
    const T* coordinates = grid.data<T>();
    parallel_for(x[0], 16384 / (points * x[1] * 4 + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * points; i < end * points; ++i) {
        SamplePoint right = across.place(coordinates[2 * i]),
                    below = down.place(coordinates[2 * i + 1]);
        if (across.is_outside(right) || down.is_outside(below)) {
          right = across.brought_in(right);
          below = down.brought_in(below);
        }
        use(i / points, i % points, Point{across.sample(right), down.sample(below)});
      }
    });
  }

  ResizeMode mode_;
  GridPadding padding_;
  bool align_corners_;
};

}  // namespace

Value grid_sample(GraphBuilder& graph, Value x, Value grid, ResizeMode mode, GridPadding padding,
                  bool align_corners, std::string name) {
  return graph.add(std::make_shared<GridSampleOp>(mode, padding, align_corners), {x, grid},
                   std::move(name));
}

}  // namespace whyformer
