// A dense array with shared storage and strides. Transposing, slicing, splitting heads and (where
// the strides allow it) reshaping give views of the same memory.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace whyformer {

enum class DType : uint8_t { kFloat32, kFloat64, kInt64 };

int64_t element_size(DType type);

using Shape = std::vector<int64_t>;

int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);  // "[2, 12, 64]"

template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::kFloat32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::kFloat64;
  else
    return DType::kInt64;
}

class Tensor {
 public:
  Tensor() = default;
  static Tensor empty(Shape shape, DType type = DType::kFloat32);
  static Tensor zeros(Shape shape, DType type = DType::kFloat32);
  template <typename T>
  static Tensor of(Shape shape, std::span<const T> values);
  template <typename T>
  static Tensor of(Shape shape, std::initializer_list<T> values) {
    return of(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  // Wraps memory that `owner` keeps alive, row-major.
  static Tensor wrap(Shape shape, DType type, std::shared_ptr<void> owner, void* data);
  // Memory laid out so that permute(order) of the result is contiguous: what a product writes when
  // a transposition follows.
  static Tensor empty_in_order(const Shape& shape, const std::vector<int>& order, DType type);
  // Fresh memory with the shape of `like` and its axes in the same order in memory.
  static Tensor empty_like(const Tensor& like);

  bool defined() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Shape& strides() const { return strides_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t dim(int axis) const { return shape_[axis < 0 ? axis + rank() : axis]; }
  int64_t stride(int axis) const { return strides_[axis < 0 ? axis + rank() : axis]; }
  int64_t size() const { return element_count(shape_); }
  bool is_contiguous() const;
  // No other tensor shares this memory, so it may be overwritten.
  bool is_sole_owner() const { return storage_.use_count() == 1; }
  const std::shared_ptr<void>& storage() const { return storage_; }

  template <typename T>
  const T* data() const {
    return static_cast<const T*>(checked_data(dtype_of<T>()));
  }
  template <typename T>
  T* mutable_data() {
    return static_cast<T*>(checked_data(dtype_of<T>()));
  }

  // Views.
  Tensor permute(const std::vector<int>& order) const;
  Tensor transpose(int axis, int other) const;
  Tensor slice(int axis, int64_t start, int64_t length) const;
  Tensor select(int axis, int64_t index) const;  // slice of length 1, axis removed
  Tensor expand(const Shape& shape) const;       // repeats axes of length 1; new axes in front

  Tensor reshape(Shape shape) const;  // a view where strides allow, otherwise a copy
  Tensor contiguous() const;          // itself if contiguous, otherwise a copy
  Tensor copy() const;
  Tensor cast(DType type) const;
  void fill(double value);
  void copy_from(const Tensor& source);  // same shape and type

  // Elements in row-major order, as doubles; for tests, reports and small results.
  std::vector<double> to_doubles() const;

 private:
  void* checked_data(DType type) const;

  std::shared_ptr<void> storage_;
  void* data_ = nullptr;
  DType dtype_ = DType::kFloat32;
  Shape shape_;
  Shape strides_;
};

using Tensors = std::vector<Tensor>;
using TensorSpan = std::span<const Tensor>;

}  // namespace whyformer
