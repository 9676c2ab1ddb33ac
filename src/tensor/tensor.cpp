#include "tensor/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/parallel.h"
#include "tensor/storage.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size());
  int64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

// Calls visit(source offset) for every element in row-major order, innermost axis as a run.
template <typename Visit>
void for_each_row(const Shape& shape, const Shape& strides, Visit visit) {
  if (element_count(shape) == 0) return;
  const size_t rank = shape.size();
  if (rank == 0) return visit(0, 1, 0);
  const int64_t run = shape[rank - 1];
  const int64_t run_stride = strides[rank - 1];
  Shape index(rank, 0);
  int64_t offset = 0;
  while (true) {
    visit(offset, run, run_stride);
    size_t axis = rank - 1;
    while (axis-- > 0) {
      offset += strides[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

// A transposed matrix in blocks: whole rows would read another cache line for every element.
template <typename T, typename U>
void copy_columns(const T* source, int64_t rows, int64_t columns, int64_t column_stride, U* out) {
  constexpr int64_t kBlock = 32;
  parallel_for(
      (rows + kBlock - 1) / kBlock, 16384 / (columns + 1) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t first = begin * kBlock; first < std::min(end * kBlock, rows);
             first += kBlock) {
          const int64_t last = std::min(first + kBlock, rows);
          for (int64_t left = 0; left < columns; left += kBlock) {
            const int64_t right = std::min(left + kBlock, columns);
            for (int64_t row = first; row < last; ++row) {
              for (int64_t column = left; column < right; ++column) {
                out[row * columns + column] = static_cast<U>(source[row + column * column_stride]);
              }
            }
          }
        }
      });
}

template <typename T, typename U>
void copy_rows(const T* source, const Shape& shape, const Shape& strides, U* out) {
  if (shape.size() == 2 && strides[0] == 1 && strides[1] > 1) {
    return copy_columns(source, shape[0], shape[1], strides[1], out);
  }
  for_each_row(shape, strides, [&](int64_t offset, int64_t run, int64_t stride) {
    const T* from = source + offset;
    if constexpr (std::is_same_v<T, U>) {
      if (stride == 1) {
        std::memcpy(out, from, run * sizeof(T));
        out += run;
        return;
      }
    }
    for (int64_t i = 0; i < run; ++i) *out++ = static_cast<U>(from[i * stride]);
  });
}

template <typename Use>
void with_type(DType type, Use use) {
  switch (type) {
    case DType::kFloat32:
      return use(float{});
    case DType::kFloat64:
      return use(double{});
    case DType::kInt64:
      return use(int64_t{});
  }
}

// Strides that give `shape` the same elements as (from, strides), or empty where none do.
Shape view_strides(const Shape& from, const Shape& strides, const Shape& shape) {
  Shape result(shape.size());
  size_t source = from.size();
  size_t target = shape.size();
  while (target > 0) {
    if (shape[target - 1] == 1) {
      result[--target] = 1;
      continue;
    }
    while (source > 0 && from[source - 1] == 1) --source;
    if (source == 0) return {};
    int64_t have = from[--source];
    const int64_t step = strides[source];
    int64_t want = shape[--target];
    result[target] = step;
    while (have != want) {
      if (want < have) {
        if (target == 0) return {};
        result[target - 1] = step * want;
        want *= shape[--target];
      } else {
        if (source == 0 || strides[source - 1] != step * have) return {};
        have *= from[--source];
      }
    }
  }
  return result;
}

}  // namespace

int64_t element_size(DType type) { return type == DType::kFloat32 ? 4 : 8; }

int64_t element_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Tensor Tensor::empty(Shape shape, DType type) {
  Tensor result;
  result.storage_ = allocate(element_count(shape) * element_size(type));
  result.data_ = result.storage_.get();
  result.dtype_ = type;
  result.strides_ = row_major_strides(shape);
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::zeros(Shape shape, DType type) {
  Tensor result = empty(std::move(shape), type);
  std::memset(result.data_, 0, result.size() * element_size(type));
  return result;
}

template <typename T>
Tensor Tensor::of(Shape shape, std::span<const T> values) {
  if (element_count(shape) != static_cast<int64_t>(values.size())) {
    throw InvalidInput(fmt::format("a tensor of shape {} needs {} values but {} were given",
                                   to_string(shape), element_count(shape), values.size()));
  }
  Tensor result = empty(std::move(shape), dtype_of<T>());
  std::copy(values.begin(), values.end(), result.mutable_data<T>());
  return result;
}
template Tensor Tensor::of<float>(Shape, std::span<const float>);
template Tensor Tensor::of<double>(Shape, std::span<const double>);
template Tensor Tensor::of<int64_t>(Shape, std::span<const int64_t>);

Tensor Tensor::wrap(Shape shape, DType type, std::shared_ptr<void> owner, void* data) {
  Tensor result;
  result.storage_ = std::move(owner);
  result.data_ = data;
  result.dtype_ = type;
  result.strides_ = row_major_strides(shape);
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::empty_in_order(const Shape& shape, const std::vector<int>& order, DType type) {
  if (order.size() != shape.size())
    throw Error("a tensor's axes and their order in memory do not match");
  Shape permuted(shape.size());
  std::vector<int> back(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    permuted[axis] = shape[order[axis]];
    back[order[axis]] = static_cast<int>(axis);
  }
  return empty(permuted, type).permute(back);
}

Tensor Tensor::empty_like(const Tensor& like) {
  std::vector<int> order(like.shape_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return like.strides_[a] > like.strides_[b]; });
  // A repeated axis (stride 0) has no place in memory: use the plain order then.
  if (std::find(like.strides_.begin(), like.strides_.end(), 0) != like.strides_.end()) {
    return empty(like.shape_, like.dtype_);
  }
  return empty_in_order(like.shape_, order, like.dtype_);
}

bool Tensor::is_contiguous() const {
  int64_t step = 1;
  for (size_t axis = shape_.size(); axis-- > 0;) {
    if (shape_[axis] != 1 && strides_[axis] != step) return false;
    step *= shape_[axis];
  }
  return true;
}

void* Tensor::checked_data(DType type) const {
  if (type != dtype_) throw Error("a tensor was read as another element type than it has");
  return data_;
}

Tensor Tensor::permute(const std::vector<int>& order) const {
  Tensor result = *this;
  for (size_t axis = 0; axis < order.size(); ++axis) {
    result.shape_[axis] = shape_[order[axis]];
    result.strides_[axis] = strides_[order[axis]];
  }
  return result;
}

Tensor Tensor::transpose(int axis, int other) const {
  Tensor result = *this;
  const int a = axis < 0 ? axis + rank() : axis;
  const int b = other < 0 ? other + rank() : other;
  std::swap(result.shape_[a], result.shape_[b]);
  std::swap(result.strides_[a], result.strides_[b]);
  return result;
}

Tensor Tensor::slice(int axis, int64_t start, int64_t length) const {
  Tensor result = *this;
  const int a = axis < 0 ? axis + rank() : axis;
  result.data_ = static_cast<char*>(data_) + start * strides_[a] * element_size(dtype_);
  result.shape_[a] = length;
  return result;
}

Tensor Tensor::select(int axis, int64_t index) const {
  Tensor result = slice(axis, index, 1);
  const int a = axis < 0 ? axis + rank() : axis;
  result.shape_.erase(result.shape_.begin() + a);
  result.strides_.erase(result.strides_.begin() + a);
  return result;
}

Tensor Tensor::expand(const Shape& shape) const {
  Tensor result = *this;
  result.shape_ = shape;
  result.strides_.assign(shape.size(), 0);
  const size_t shift = shape.size() - shape_.size();
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    result.strides_[axis + shift] = shape_[axis] == 1 ? 0 : strides_[axis];
  }
  return result;
}

Tensor Tensor::reshape(Shape shape) const {
  if (element_count(shape) != size()) {
    throw InvalidInput(fmt::format("cannot reshape {} to {}: {} elements against {}",
                                   to_string(shape_), to_string(shape), size(),
                                   element_count(shape)));
  }
  if (is_contiguous()) return wrap(std::move(shape), dtype_, storage_, data_);
  Shape strides = view_strides(shape_, strides_, shape);
  if (strides.empty()) return copy().reshape(std::move(shape));
  Tensor result = *this;
  result.shape_ = std::move(shape);
  result.strides_ = std::move(strides);
  return result;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : copy(); }

Tensor Tensor::copy() const { return cast(dtype_); }

Tensor Tensor::cast(DType type) const {
  Tensor result = empty(shape_, type);
  with_type(dtype_, [&](auto from) {
    with_type(type, [&](auto to) {
      copy_rows(static_cast<const decltype(from)*>(data_), shape_, strides_,
                static_cast<decltype(to)*>(result.data_));
    });
  });
  return result;
}

void Tensor::fill(double value) {
  with_type(dtype_, [&](auto zero) {
    using T = decltype(zero);
    for_each_row(shape_, strides_, [&](int64_t offset, int64_t run, int64_t stride) {
      T* to = static_cast<T*>(data_) + offset;
      for (int64_t i = 0; i < run; ++i) to[i * stride] = static_cast<T>(value);
    });
  });
}

void Tensor::copy_from(const Tensor& source) {
  if (source.shape_ != shape_ || source.dtype_ != dtype_) {
    throw Error("copy_from: shapes or types differ: " + to_string(source.shape_) + " and " +
                to_string(shape_));
  }
  const Tensor packed = source.contiguous();
  with_type(dtype_, [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(packed.data_);
    for_each_row(shape_, strides_, [&](int64_t offset, int64_t run, int64_t stride) {
      T* to = static_cast<T*>(data_) + offset;
      for (int64_t i = 0; i < run; ++i) to[i * stride] = *from++;
    });
  });
}

std::vector<double> Tensor::to_doubles() const {
  std::vector<double> result(size());
  with_type(dtype_, [&](auto zero) {
    copy_rows(static_cast<const decltype(zero)*>(data_), shape_, strides_, result.data());
  });
  return result;
}

}  // namespace whyformer
