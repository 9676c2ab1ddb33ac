// Moving elements by position: what the operators that pick, place, repeat and pad share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/check_size.h"
#include "tensor/tensor.h"

namespace whyformer {

// Calls use(float{}), use(double{}) or use(int64_t{}).
template <typename Use>
decltype(auto) with_element_type(DType type, Use&& use) {
  if (type == DType::kFloat32) return use(float{});
  if (type == DType::kFloat64) return use(double{});
  return use(int64_t{});
}

// Elements of the axes in front of `axis`, and behind it.
struct AroundAxis {
  int64_t before = 1;
  int64_t behind = 1;
};
AroundAxis around(const Shape& shape, int axis);

// An index counted from 0 where it may count from the end. Throws InvalidInput that names both.
int64_t position_of(int64_t index, int64_t length);

// Slices of one axis at positions of it; `fill` where a position is -1.
Tensor pick(const Tensor& x, int axis, std::span<const int64_t> positions, double fill = 0);
// The transpose: slices added up at their positions of an axis of that length.
Tensor sum_back(const Tensor& slices, int axis, std::span<const int64_t> positions, int64_t length);

// Runs of `length` neighbouring elements of a row-major tensor, each starting at an offset. Two of
// them are the same run or have nothing in common.
struct Blocks {
  int64_t length = 1;
  std::vector<int64_t> offsets;
};

// The blocks of x one after the other, as a tensor of `shape`.
Tensor take(const Tensor& x, const Blocks& blocks, Shape shape);
// The transpose: zeros of `shape` to which the blocks are added.
Tensor sum_blocks(const Tensor& values, const Blocks& blocks, Shape shape);

// What GatherElements and ScatterElements address in a tensor of that shape: the element at an
// index along `axis`, and in the place of the index along the other axes.
Blocks element_blocks(const Shape& shape, const Tensor& indices, int axis);
// What GatherND and ScatterND address: the last axis of `indices` holds coordinates of the axes
// after the first `batch_axes`, which both share.
Blocks coordinate_blocks(const Shape& shape, const Tensor& indices, int batch_axes);

}  // namespace whyformer
