// How a kernel passes over a grid: what convolutions and pooling share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ops/pictures.h"
#include "tensor/tensor.h"

namespace whyformer {

// A window laid over an input [batch, channels, space…], as if it had three space axes.
class WindowGrid {
 public:
  using Space = std::array<int64_t, 3>;

  // Throws InvalidInput if the window does not fit the input.
  WindowGrid(const Shape& input, const Window& window);

  // The space of an output that `window` maps to an input of that shape: the way back of the above.
  static Shape space_before(const Shape& input, const Window& window,
                            const std::vector<int64_t>& output_pads);

  int64_t batch() const { return batch_; }
  int64_t channels() const { return channels_; }
  int64_t positions() const { return output_[0] * output_[1] * output_[2]; }
  int64_t plane() const { return input_[0] * input_[1] * input_[2]; }
  int64_t kernel_size() const { return kernel_[0] * kernel_[1] * kernel_[2]; }
  Shape output_shape(int64_t channels) const;

  // Offsets in the input's plane under the window at `position`, in the kernel's order; -1 in a
  // pad.
  template <typename Use>
  void for_each_offset(int64_t position, const Use& use) const {
    const Space at = origin(position);
    for (int64_t i = 0; i < kernel_[0]; ++i) {
      const int64_t z = at[0] + i * dilations_[0];
      const bool z_inside = z >= 0 && z < input_[0];
      for (int64_t j = 0; j < kernel_[1]; ++j) {
        const int64_t y = at[1] + j * dilations_[1];
        const bool inside = z_inside && y >= 0 && y < input_[1];
        const int64_t line = (z * input_[1] + y) * input_[2];
        for (int64_t k = 0; k < kernel_[2]; ++k) {
          const int64_t x = at[2] + k * dilations_[2];
          use(inside && x >= 0 && x < input_[2] ? line + x : -1);
        }
      }
    }
  }

  // Those of them that are in the input, however large the kernel.
  template <typename Use>
  void for_each_inside(int64_t position, const Use& use) const {
    const Space at = origin(position);
    Space first, end;
    for (size_t axis = 0; axis < 3; ++axis) {
      first[axis] = taps_below(axis, at[axis], 0);
      end[axis] = taps_below(axis, at[axis], input_[axis]);
    }
    for (int64_t i = first[0]; i < end[0]; ++i) {
      for (int64_t j = first[1]; j < end[1]; ++j) {
        const int64_t line =
            ((at[0] + i * dilations_[0]) * input_[1] + at[1] + j * dilations_[1]) * input_[2];
        for (int64_t k = first[2]; k < end[2]; ++k) use(line + at[2] + k * dilations_[2]);
      }
    }
  }

  // How many elements under the window lie in the input or its pads.
  int64_t padded_count(int64_t position) const;

  // Patches under the kernel, of `count` channels from `first`: rows [batch · positions, count ·
  // kernel].
  Tensor patches(const Tensor& input, int64_t first, int64_t count) const;
  // Adds rows of patches up where they came from.
  void fold(const Tensor& rows, int64_t first, int64_t count, Tensor& input) const;

 private:
  Space origin(int64_t position) const;
  // How many taps of a window that starts at `start` lie below `limit`.
  int64_t taps_below(size_t axis, int64_t start, int64_t limit) const {
    if (start >= limit) return 0;
    return std::min(kernel_[axis], (limit - start + dilations_[axis] - 1) / dilations_[axis]);
  }

  size_t rank_;
  int64_t batch_, channels_;
  Space input_{1, 1, 1}, output_{1, 1, 1}, kernel_{1, 1, 1}, strides_{1, 1, 1}, dilations_{1, 1, 1};
  Space before_{0, 0, 0}, after_{0, 0, 0};
};

// [batch, features, space…] as rows [batch · positions, features].
Tensor rows_of_grid(const Tensor& grid);

}  // namespace whyformer
