#include "ops/helpers.h"

#include <fmt/format.h>

#include <algorithm>

namespace whyformer {
namespace {

// Sums in double, in row-major order: the same whatever the strides.
template <typename T>
Tensor sum_to_as(const Tensor& tensor, const Shape& shape) {
  const Tensor source = tensor.contiguous();
  const size_t rank = source.shape().size();
  const size_t shift = rank - shape.size();
  Shape steps(rank, 0);
  int64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1) steps[axis + shift] = step;
    step *= shape[axis];
  }
  std::vector<double> sums(element_count(shape), 0.0);
  Shape index(rank, 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < source.size(); ++i) {
    sums[offset] += source.data<T>()[i];
    for (size_t axis = rank; axis-- > 0;) {
      offset += steps[axis];
      if (++index[axis] < source.shape()[axis]) break;
      offset -= steps[axis] * source.shape()[axis];
      index[axis] = 0;
    }
  }
  Tensor result = Tensor::empty(shape, tensor.dtype());
  std::transform(sums.begin(), sums.end(), result.mutable_data<T>(),
                 [](double sum) { return static_cast<T>(sum); });
  return result;
}

std::string_view name_of(DType type) {
  switch (type) {
    case DType::kFloat32: return "32-bit floats";
    case DType::kFloat64: return "64-bit floats";
    case DType::kInt64: return "integers";
  }
  return "";
}

}  // namespace

void check_same_type(const ValueType& a, const ValueType& b) {
  if (a.dtype == b.dtype) return;
  throw InvalidInput(fmt::format("needs operands of one type but was given {} and {}",
                                 name_of(a.dtype), name_of(b.dtype)));
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t from_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t from_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      throw InvalidInput(
          fmt::format("shapes {} and {} do not fit together", to_string(a), to_string(b)));
    }
    result[result.size() - 1 - i] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

Tensor sum_to(const Tensor& tensor, const Shape& shape) {
  if (tensor.shape() == shape) return tensor;
  return with_float_type(tensor.dtype(),
                         [&](auto zero) { return sum_to_as<decltype(zero)>(tensor, shape); });
}

int broadcast_source(int axis, const Shape& output, const Shape& input) {
  const int source = axis - static_cast<int>(output.size() - input.size());
  return source < 0 || (input[source] == 1 && output[axis] != 1) ? -1 : source;
}

}  // namespace whyformer
