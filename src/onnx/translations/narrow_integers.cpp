#include "onnx/translations/narrow_integers.h"

#include <algorithm>

#include "ops/arithmetic.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

bool fits_in(ElementType inner, ElementType outer) {
  return range_of(inner).least >= range_of(outer).least &&
         range_of(inner).most <= range_of(outer).most;
}

// Ids and positions, which are not known, fit; wrapping them around would hide from discovery where
// they come from.
bool has_numbers_outside(const Tensor* known, ElementType type) {
  if (known == nullptr) return false;
  const std::vector<double> numbers = known->to_doubles();
  return std::any_of(numbers.begin(), numbers.end(), [&](double number) {
    return number < range_of(type).least || number > range_of(type).most;
  });
}

}  // namespace

bool is_narrow(ElementType type) {
  return !is_float(type) && type != ElementType::kBool && bits_of(type) <= 16;
}

Value wrapped_around(NodeScope& scope, Value x, ElementType type) {
  GraphBuilder& graph = scope.graph();
  const DType held = graph.type(x).dtype;
  const auto [least, most] = range_of(type);
  const Value lowest = scope.number_constant(least, held);
  const Value count = scope.number_constant(most - least + 1, held);
  if (least != 0) x = binary(graph, x, lowest, BinaryFunction::kSubtract, scope.name());
  x = binary(graph, x, count, BinaryFunction::kModulo, scope.name());
  return least == 0 ? x : add(graph, x, lowest, scope.name());
}

Value converted(NodeScope& scope, Value x, ElementType from, ElementType to) {
  GraphBuilder& graph = scope.graph();
  const auto wide = [](ElementType type) {
    return !is_float(type) && !is_narrow(type) && type != ElementType::kBool;
  };
  if (wide(from) && wide(to) && bits_of(to) == 32 && has_numbers_outside(graph.known(x), to)) {
    // Brought near first, so that nothing overflows on the way.
    const Value count =
        scope.number_constant(range_of(to).most - range_of(to).least + 1, DType::kInt64);
    x = wrapped_around(scope, binary(graph, x, count, BinaryFunction::kModulo, scope.name()), to);
    scope.set_element(x, to);
    return x;
  }
  if ((is_float(from) && is_float(to)) || (wide(from) && wide(to)) || from == to) return x;
  // The value under another type is a value of its own: operators ask what type theirs has.
  const DType held = held_as(to, scope.floats());
  const bool to_truth = to == ElementType::kBool;
  const bool may_not_fit =
      is_narrow(to) && from != ElementType::kBool && !(is_narrow(from) && fits_in(from, to));
  if (may_not_fit) {
    x = wrapped_around(scope, cast(graph, x, DType::kInt64, false, scope.name()), to);
  }
  x = cast(graph, x, held, to_truth, scope.name());
  scope.set_element(x, to);
  return x;
}

}  // namespace whyformer::onnx
