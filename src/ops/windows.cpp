#include "ops/windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

constexpr int64_t kLongest = int64_t{1} << 31;
constexpr int64_t kLargestKernel = int64_t{1} << 24;

int64_t number_at(const std::vector<int64_t>& numbers, size_t axis, int64_t otherwise) {
  return numbers.empty() ? otherwise : numbers[axis];
}

void check_numbers(const std::vector<int64_t>& numbers, size_t axes, int64_t least,
                   const char* what) {
  if (!numbers.empty() && numbers.size() != axes) {
    throw InvalidInput(
        fmt::format("there are {} {} for {} space axes", numbers.size(), what, axes));
  }
  for (const int64_t number : numbers) {
    if (number < least || number >= kLongest) {
      throw InvalidInput(fmt::format("{} among the {}", number, what));
    }
  }
}

size_t checked_axes(const Shape& input, const Window& window) {
  if (input.size() < 3 || input.size() > 5) {
    throw InvalidInput(fmt::format(
        "a grid has 1 to 3 axes after batch and channels but the input is {}", to_string(input)));
  }
  const size_t axes = input.size() - 2;
  if (window.kernel.size() != axes) {
    throw InvalidInput(fmt::format("a kernel {} does not fit an input {}", to_string(window.kernel),
                                   to_string(input)));
  }
  check_numbers(window.kernel, axes, 1, "kernel lengths");
  check_numbers(window.strides, axes, 1, "strides");
  check_numbers(window.dilations, axes, 1, "dilations");
  check_numbers(window.pads_before, axes, -kLongest, "pads");  // negative ones cut off
  check_numbers(window.pads_after, axes, -kLongest, "pads");
  check_numbers(window.overhang, axes, 0, "overhangs");
  return axes;
}

}  // namespace

WindowGrid::WindowGrid(const Shape& input, const Window& window) : rank_(input.size()) {
  const size_t axes = checked_axes(input, window);
  batch_ = input[0];
  channels_ = input[1];
  for (size_t i = 0; i < axes; ++i) {
    const size_t at = 3 - axes + i;
    input_[at] = input[i + 2];
    kernel_[at] = window.kernel[i];
    strides_[at] = number_at(window.strides, i, 1);
    dilations_[at] = number_at(window.dilations, i, 1);
    before_[at] = number_at(window.pads_before, i, 0);
    after_[at] = number_at(window.pads_after, i, 0);
    const int64_t length = input_[at] + before_[at] + after_[at] + number_at(window.overhang, i, 0);
    const int64_t reach = (kernel_[at] - 1) * dilations_[at] + 1;
    if (length < reach) {
      throw InvalidInput(
          fmt::format("the kernel spans {} positions of axis {} but the input {} has {}", reach,
                      i + 2, to_string(input), length));
    }
    output_[at] = (length - reach) / strides_[at] + 1;
  }
  // Positions outside the input are walked over too.
  if (kernel_[0] * kernel_[1] > kLargestKernel || kernel_size() > kLargestKernel) {
    throw InvalidInput("a kernel " + to_string(window.kernel) + " is too large");
  }
}

Shape WindowGrid::space_before(const Shape& input, const Window& window,
                               const std::vector<int64_t>& output_pads) {
  const size_t axes = checked_axes(input, window);
  check_numbers(output_pads, axes, 0, "output pads");
  Shape space;
  for (size_t i = 0; i < axes; ++i) {
    if (input[i + 2] >= kLongest) throw InvalidInput("an input of shape " + to_string(input));
    const int64_t length = number_at(window.strides, i, 1) * (input[i + 2] - 1) +
                           (window.kernel[i] - 1) * number_at(window.dilations, i, 1) + 1 -
                           number_at(window.pads_before, i, 0) -
                           number_at(window.pads_after, i, 0) + number_at(output_pads, i, 0);
    if (length < 0) {
      throw InvalidInput(fmt::format("pads cut more off axis {} than there is of an input {}",
                                     i + 2, to_string(input)));
    }
    space.push_back(length);
  }
  return space;
}

Shape WindowGrid::output_shape(int64_t channels) const {
  Shape shape{batch_, channels};
  shape.insert(shape.end(), output_.end() - (static_cast<int64_t>(rank_) - 2), output_.end());
  return shape;
}

WindowGrid::Space WindowGrid::origin(int64_t position) const {
  const int64_t x = position % output_[2];
  const int64_t y = position / output_[2] % output_[1];
  const int64_t z = position / output_[2] / output_[1];
  return {z * strides_[0] - before_[0], y * strides_[1] - before_[1], x * strides_[2] - before_[2]};
}

int64_t WindowGrid::padded_count(int64_t position) const {
  const Space at = origin(position);
  int64_t count = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    count *= taps_below(axis, at[axis], input_[axis] + after_[axis]);
  }
  return count;
}

Tensor WindowGrid::patches(const Tensor& input, int64_t first, int64_t count) const {
  const Tensor source = input.contiguous();
  const int64_t depth = count * kernel_size();
  Tensor rows = Tensor::empty({batch_ * positions(), depth}, input.dtype());
  with_float_type(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = source.data<T>();
    T* to = rows.mutable_data<T>();
    const auto copy_line = [&](const T* line, int64_t left, T* out) {
      if (dilations_[2] == 1 && left >= 0 && left + kernel_[2] <= input_[2]) {
        std::copy_n(line + left, kernel_[2], out);
        return;
      }
      for (int64_t k = 0; k < kernel_[2]; ++k) {
        const int64_t x = left + k * dilations_[2];
        out[k] = x >= 0 && x < input_[2] ? line[x] : T{0};
      }
    };
    parallel_for(rows.dim(0), 16384 / (depth + 1) + 1, [&](int64_t begin, int64_t end) {
      T* out = to + begin * depth;
      for (int64_t row = begin; row < end; ++row) {
        const Space at = origin(row % positions());
        const T* channel = from + (row / positions() * channels_ + first) * plane();
        for (int64_t c = 0; c < count; ++c, channel += plane()) {
          for (int64_t i = 0; i < kernel_[0]; ++i) {
            const int64_t z = at[0] + i * dilations_[0];
            for (int64_t j = 0; j < kernel_[1]; ++j, out += kernel_[2]) {
              const int64_t y = at[1] + j * dilations_[1];
              if (z < 0 || z >= input_[0] || y < 0 || y >= input_[1]) {
                std::fill_n(out, kernel_[2], T{0});
              } else {
                copy_line(channel + (z * input_[1] + y) * input_[2], at[2], out);
              }
            }
          }
        }
      }
    });
  });
  return rows;
}

void WindowGrid::fold(const Tensor& rows, int64_t first, int64_t count, Tensor& input) const {
  const Tensor source = rows.contiguous();
  const int64_t depth = count * kernel_size();
  with_float_type(rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = source.data<T>();
    T* to = input.mutable_data<T>();
    parallel_for(batch_ * count, 16384 / (positions() * kernel_size() + 1) + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t sample = i / count, channel = i % count;
                     T* out = to + (sample * channels_ + first + channel) * plane();
                     for (int64_t position = 0; position < positions(); ++position) {
                       const T* patch = from + (sample * positions() + position) * depth +
                                        channel * kernel_size();
                       for_each_offset(position, [&](int64_t offset) {
                         if (offset >= 0) out[offset] += *patch;
                         ++patch;
                       });
                     }
                   }
                 });
  });
}

Tensor rows_of_grid(const Tensor& grid) {
  const int64_t positions = element_count({grid.shape().begin() + 2, grid.shape().end()});
  return grid.reshape({grid.dim(0), grid.dim(1), positions})
      .transpose(1, 2)
      .contiguous()
      .reshape({grid.dim(0) * positions, grid.dim(1)});
}

}  // namespace whyformer
