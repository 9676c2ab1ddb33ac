#include "ops/helpers.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/reduce_values.h"

namespace whyformer {
namespace {

std::string_view name_of(DType type) {
  switch (type) {
    case DType::kFloat32:
      return "32-bit floats";
    case DType::kFloat64:
      return "64-bit floats";
    case DType::kInt64:
      return "integers";
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
  const int shift = tensor.rank() - static_cast<int>(shape.size());
  std::vector<int> axes;
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    if (axis < shift || shape[axis - shift] != tensor.dim(axis)) axes.push_back(axis);
  }
  return reduce_values(tensor, Reduction::kSum, axes).reshape(shape);
}

int broadcast_source(int axis, const Shape& output, const Shape& input) {
  const int source = axis - static_cast<int>(output.size() - input.size());
  return source < 0 || (input[source] == 1 && output[axis] != 1) ? -1 : source;
}

}  // namespace whyformer
