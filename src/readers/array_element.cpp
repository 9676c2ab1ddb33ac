#include "readers/array_element.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "formats/file_checks.h"
#include "whyformer/error.h"

namespace whyformer {

void check_has_elements(const std::string& name, const Shape& shape) {
  if (element_count(shape) > 0) return;
  throw InvalidInput(
      fmt::format(
          "the output {} has the shape {} and so no elements to explain; choose another output",
          in_quotes(name), to_string(shape)),
      Remedy::kOutput);
}

std::vector<int64_t> largest_element(const Tensor& output) {
  const std::vector<double> numbers = output.to_doubles();
  int64_t at = std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
  std::vector<int64_t> indices;
  for (int axis = output.rank() - 1; axis >= 0; --axis) {
    indices.insert(indices.begin(), at % output.dim(axis));
    at /= output.dim(axis);
  }
  return indices;
}

int64_t position_of(const std::vector<int64_t>& indices, const Shape& shape,
                    const std::string& name) {
  int64_t at = 0;
  bool inside = indices.size() == shape.size();
  for (size_t axis = 0; inside && axis < shape.size(); ++axis) {
    inside = indices[axis] >= 0 && indices[axis] < shape[axis];
    at = at * shape[axis] + indices[axis];
  }
  if (!inside) {
    throw InvalidInput(
        fmt::format("the output '{}' has the shape {}: there is no element {}; give one number per "
                    "axis, from 0",
                    name, to_string(shape), fmt::join(indices, ",")));
  }
  return at;
}

void check_finite(double value) {
  if (std::isfinite(value)) return;
  throw InvalidInput(
      fmt::format("the model answers {} there: look at the inputs for NaN or huge numbers", value));
}

}  // namespace whyformer
