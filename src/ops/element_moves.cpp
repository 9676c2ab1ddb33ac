#include "ops/element_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// How many runs of that length are worth a thread.
int64_t grain(int64_t length) { return std::max<int64_t>(1, 16384 / (length + 1)); }

template <typename T>
T element(double value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
    if (!(value >= -0x1p63)) return std::numeric_limits<int64_t>::min();
  }
  return static_cast<T>(value);
}

Shape steps_of(const Shape& shape) {
  Shape steps(shape.size());
  int64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    steps[axis] = step;
    step *= shape[axis];
  }
  return steps;
}

// Goes through the positions of `shape` in row-major order and keeps their offset under other
// steps.
class OffsetWalk {
 public:
  OffsetWalk(Shape shape, Shape steps)
      : shape_(std::move(shape)), steps_(std::move(steps)), index_(shape_.size(), 0) {}
  int64_t offset() const { return offset_; }
  void next() {
    for (size_t axis = shape_.size(); axis-- > 0;) {
      offset_ += steps_[axis];
      if (++index_[axis] < shape_[axis]) return;
      offset_ -= steps_[axis] * shape_[axis];
      index_[axis] = 0;
    }
  }

 private:
  Shape shape_, steps_, index_;
  int64_t offset_ = 0;
};

}  // namespace

AroundAxis around(const Shape& shape, int axis) {
  AroundAxis counts;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (i < axis) counts.before *= shape[i];
    if (i > axis) counts.behind *= shape[i];
  }
  return counts;
}

int64_t position_of(int64_t index, int64_t length) {
  if (index < -length || index >= length) {
    throw InvalidInput(fmt::format("index {} is outside an axis of length {}", index, length));
  }
  return index < 0 ? index + length : index;
}

Tensor pick(const Tensor& x, int axis, std::span<const int64_t> positions, double fill) {
  const Tensor source = x.contiguous();
  const auto [before, behind] = around(x.shape(), axis);
  const int64_t length = x.dim(axis);
  const auto count = static_cast<int64_t>(positions.size());
  Shape shape = x.shape();
  shape[axis] = count;
  Tensor result = Tensor::empty(shape, x.dtype());
  if (result.size() == 0) return result;
  with_element_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = source.data<T>();
    T* out = result.mutable_data<T>();
    parallel_for(before * count, grain(behind), [&](int64_t begin, int64_t end) {
      int64_t slab = begin / count, index = begin % count;
      for (int64_t row = begin; row < end; ++row) {
        T* to = out + row * behind;
        const int64_t position = positions[index];
        if (position < 0)
          std::fill_n(to, behind, element<T>(fill));
        else
          std::copy_n(from + (slab * length + position) * behind, behind, to);
        if (++index == count) {
          index = 0;
          ++slab;
        }
      }
    });
  });
  return result;
}

Tensor sum_back(const Tensor& slices, int axis, std::span<const int64_t> positions,
                int64_t length) {
  const Tensor source = slices.contiguous();
  const auto [before, behind] = around(slices.shape(), axis);
  const auto count = static_cast<int64_t>(positions.size());
  Shape shape = slices.shape();
  shape[axis] = length;
  Tensor result = Tensor::zeros(shape, slices.dtype());
  with_float_type(slices.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = source.data<T>();
    T* out = result.mutable_data<T>();
    parallel_for(before, grain(count * behind), [&](int64_t begin, int64_t end) {
      for (int64_t slab = begin; slab < end; ++slab) {
        for (int64_t index = 0; index < count; ++index) {
          if (positions[index] < 0) continue;
          const T* values = from + (slab * count + index) * behind;
          T* to = out + (slab * length + positions[index]) * behind;
          for (int64_t i = 0; i < behind; ++i) to[i] += values[i];
        }
      }
    });
  });
  return result;
}

Tensor take(const Tensor& x, const Blocks& blocks, Shape shape) {
  const Tensor source = x.contiguous();
  Tensor result = Tensor::empty(std::move(shape), x.dtype());
  with_element_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = source.data<T>();
    T* out = result.mutable_data<T>();
    const auto count = static_cast<int64_t>(blocks.offsets.size());
    parallel_for(count, grain(blocks.length), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        std::copy_n(from + blocks.offsets[i], blocks.length, out + i * blocks.length);
      }
    });
  });
  return result;
}

Tensor sum_blocks(const Tensor& values, const Blocks& blocks, Shape shape) {
  const Tensor source = values.contiguous();
  Tensor result = Tensor::zeros(std::move(shape), values.dtype());
  with_element_type(values.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = source.data<T>();
    for (const int64_t offset : blocks.offsets) {
      T* to = result.mutable_data<T>() + offset;
      for (int64_t i = 0; i < blocks.length; ++i) to[i] += *from++;
    }
  });
  return result;
}

Blocks element_blocks(const Shape& shape, const Tensor& indices, int axis) {
  const Tensor packed = indices.contiguous();
  Shape steps = steps_of(shape);
  const int64_t step = steps[axis];
  steps[axis] = 0;
  Blocks blocks{1, std::vector<int64_t>(packed.size())};
  OffsetWalk place(indices.shape(), std::move(steps));
  for (size_t i = 0; i < blocks.offsets.size(); ++i, place.next()) {
    const int64_t index = packed.data<int64_t>()[i];
    blocks.offsets[i] = place.offset() + position_of(index, shape[axis]) * step;
  }
  return blocks;
}

Blocks coordinate_blocks(const Shape& shape, const Tensor& indices, int batch_axes) {
  const Tensor packed = indices.contiguous();
  const Shape steps = steps_of(shape);
  const int64_t width = indices.dim(-1);
  Shape places(indices.shape().begin(), indices.shape().end() - 1);
  Shape place_steps(places.size(), 0);
  std::copy_n(steps.begin(), batch_axes, place_steps.begin());
  const int addressed = batch_axes + static_cast<int>(width);
  Blocks blocks{around(shape, addressed - 1).behind, std::vector<int64_t>(element_count(places))};
  OffsetWalk place(std::move(places), std::move(place_steps));
  const int64_t* coordinate = packed.data<int64_t>();
  for (int64_t& offset : blocks.offsets) {
    offset = place.offset();
    for (int axis = batch_axes; axis < addressed; ++axis) {
      offset += position_of(*coordinate++, shape[axis]) * steps[axis];
    }
    place.next();
  }
  return blocks;
}

}  // namespace whyformer
