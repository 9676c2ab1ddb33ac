#include "ops/broadcast_map.h"

#include <algorithm>

#include "base/parallel.h"

namespace whyformer {

BroadcastRows::BroadcastRows(const Shape& shape, const std::vector<Shape>& strides)
    : size_(element_count(shape)), steps_(strides.size()) {
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 1) continue;
    if (merges(strides, axis)) {
      lengths_.back() *= shape[axis];
      continue;
    }
    lengths_.push_back(shape[axis]);
    for (size_t i = 0; i < strides.size(); ++i) steps_[i].push_back(strides[i][axis]);
  }
  if (!lengths_.empty()) return;
  lengths_.push_back(1);
  for (Shape& steps : steps_) steps.push_back(1);
}

bool BroadcastRows::merges(const std::vector<Shape>& strides, size_t axis) const {
  if (lengths_.empty()) return false;
  for (size_t i = 0; i < strides.size(); ++i) {
    if (strides[i][axis] != steps_[i].back() * lengths_.back()) return false;
  }
  return true;
}

void BroadcastRows::for_each(const Body& body) const {
  parallel_for(size_, 16384, [&](int64_t begin, int64_t end) {
    Shape index(lengths_.size());
    Shape offsets(steps_.size(), 0);
    int64_t rest = begin;
    for (size_t axis = 0; axis < lengths_.size(); ++axis) {
      index[axis] = rest % lengths_[axis];
      rest /= lengths_[axis];
      for (size_t i = 0; i < steps_.size(); ++i) offsets[i] += index[axis] * steps_[i][axis];
    }
    for (int64_t at = begin; at < end;) {
      const int64_t count = std::min(lengths_[0] - index[0], end - at);
      body(at, count, offsets);
      at += count;
      int64_t moved = count;
      for (size_t axis = 0; axis < lengths_.size(); ++axis) {
        index[axis] += moved;
        for (size_t i = 0; i < steps_.size(); ++i) offsets[i] += moved * steps_[i][axis];
        if (index[axis] < lengths_[axis]) break;
        index[axis] = 0;
        for (size_t i = 0; i < steps_.size(); ++i) offsets[i] -= lengths_[axis] * steps_[i][axis];
        moved = 1;
      }
    }
  });
}

Tensor reuse_any_or_allocate(std::span<Tensor> inputs, const ValueType& output) {
  for (Tensor& input : inputs) {
    if (input.is_sole_owner() && input.is_contiguous() && input.dtype() == output.dtype &&
        input.shape() == output.shape) {
      return std::move(input);
    }
  }
  return Tensor::empty(output.shape, output.dtype);
}

}  // namespace whyformer
