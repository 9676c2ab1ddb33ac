// Operators that pick and place elements by index.
#include "ops/gathering.h"

#include <fmt/format.h>

#include "onnx/operators.h"
#include "ops/arithmetic.h"
#include "ops/element_moves.h"
#include "ops/ops.h"
#include "ops/whole_numbers.h"

namespace whyformer::onnx {
namespace {

// One known position: a slice, which discovery knows as a row that is read out. A scalar index
// takes the axis away.
Value picked_row(NodeScope& scope, int axis) {
  const Shape shape = scope.shape(0);
  const int64_t row = position_of(scope.integers(1)[0], shape[axis]);
  Value x = scope.widened(0);
  if (shape[axis] > 1) x = slice(scope.graph(), x, axis, row, 1, scope.name());
  if (scope.rank(1) == 1) return x;
  Shape rest = shape;
  rest.erase(rest.begin() + axis);
  std::vector<int> sources;
  for (int source = 0; source < scope.rank(0); ++source) {
    if (source != axis) sources.push_back(source);
  }
  return reshape(scope.graph(), x, rest, sources, scope.name());
}

std::vector<Value> translate_gather(NodeScope& scope) {
  const int axis = scope.axis(scope.integer("axis", 0), scope.rank(0));
  const Tensor* x = scope.known(0);
  const Tensor* indices = scope.known(1);
  if (indices != nullptr && indices->size() == 1 && indices->rank() <= 1) {
    return {picked_row(scope, axis)};
  }
  const bool is_table = x != nullptr && x->rank() == 2 && x->dtype() != DType::kInt64;
  if (is_table && axis == 0 && scope.graph().varies(scope.input(1))) {
    if (const FileTensor* bytes = scope.narrow(0)) {
      const auto table = whole_numbers(StoredBytes{.data = bytes->data,
                                                   .rows = bytes->shape[0],
                                                   .columns = bytes->shape[1],
                                                   .is_signed = bytes->type == ElementType::kInt8});
      return {embedding(scope.graph(), scope.input(1), table, scope.name())};
    }
    return {embedding(scope.graph(), scope.input(1), *x, scope.name())};
  }
  return {gather(scope.graph(), scope.widened(0), scope.input(1), axis, scope.name())};
}

std::vector<Value> translate_gather_elements(NodeScope& scope) {
  const int axis = scope.axis(scope.integer("axis", 0), scope.rank(0));
  return {gather_elements(scope.graph(), scope.input(0), scope.input(1), axis, scope.name())};
}

std::vector<Value> translate_gather_nd(NodeScope& scope) {
  const int64_t batch_axes = scope.integer("batch_dims", 0);
  if (batch_axes < 0 || batch_axes >= scope.rank(0)) {
    throw InvalidInput(
        fmt::format("{} batch axes do not fit {}", batch_axes, to_string(scope.shape(0))));
  }
  return {gather_nd(scope.graph(), scope.input(0), scope.input(1), static_cast<int>(batch_axes),
                    scope.name())};
}

// Whether updates are added to what is there, or replace it.
bool adds(NodeScope& scope) {
  const std::string reduction = scope.text("reduction", "none");
  if (reduction != "none" && reduction != "add") {
    scope.fail(fmt::format("has the reduction '{}'; supported are 'none' and 'add'", reduction));
  }
  return reduction == "add";
}

std::vector<Value> translate_scatter_nd(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const Value x = scope.input(0), indices = scope.input(1), updates = scope.input(2);
  if (!adds(scope)) return {scatter_nd(graph, x, indices, updates, scope.name())};
  const Value sums = scatter_nd_sum(graph, indices, updates, graph.shape(x), scope.name());
  return {add(graph, x, sums, scope.name())};
}

std::vector<Value> translate_scatter_elements(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const int axis = scope.axis(scope.integer("axis", 0), scope.rank(0));
  const Value x = scope.input(0), indices = scope.input(1), updates = scope.input(2);
  if (!adds(scope)) return {scatter_elements(graph, x, indices, updates, axis, scope.name())};
  const Value sums =
      scatter_elements_sum(graph, indices, updates, axis, graph.shape(x), scope.name());
  return {add(graph, x, sums, scope.name())};
}

std::vector<Value> translate_one_hot(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  Value indices = scope.input(0);
  if (scope.dtype(0) != DType::kInt64) {
    indices = cast(graph, indices, DType::kInt64, false, scope.name());
  }
  const int axis = scope.axis(scope.integer("axis", -1), scope.rank(0) + 1);
  const std::vector<int64_t> depth = scope.integers(1);
  const std::vector<double> values = scope.needed(2).to_doubles();
  if (depth.size() != 1 || values.size() != 2) {
    throw InvalidInput(fmt::format("one depth and two values are needed but {} and {} were given",
                                   depth.size(), values.size()));
  }
  const Value result =
      one_hot(graph, indices, axis, depth[0], values[0], values[1], scope.dtype(2), scope.name());
  scope.set_element(result, scope.element(2));
  return {result};
}

// Coordinates of what is not 0: one row per axis.
std::vector<Value> translate_non_zero(NodeScope& scope) {
  const Tensor& x = scope.needed(0);
  const Shape shape = x.rank() == 0 ? Shape{1} : x.shape();
  const std::vector<double> values = x.to_doubles();
  std::vector<int64_t> found;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) found.push_back(static_cast<int64_t>(i));
  }
  const auto count = static_cast<int64_t>(found.size());
  Tensor coordinates = Tensor::empty({static_cast<int64_t>(shape.size()), count}, DType::kInt64);
  for (size_t axis = shape.size(); axis-- > 0;) {
    int64_t* row = coordinates.mutable_data<int64_t>() + static_cast<int64_t>(axis) * count;
    for (int64_t i = 0; i < count; ++i) {
      row[i] = found[i] % shape[axis];
      found[i] /= shape[axis];
    }
  }
  const Value result = scope.constant(coordinates);
  scope.set_element(result, ElementType::kInt64);
  return {result};
}

constexpr OnnxOperator kOperators[] = {
    {"", "Gather", translate_gather},
    {"", "GatherElements", translate_gather_elements},
    {"", "GatherND", translate_gather_nd},
    {"", "NonZero", translate_non_zero},
    {"", "OneHot", translate_one_hot},
    {"", "Scatter", translate_scatter_elements},  // its name before opset 11
    {"", "ScatterElements", translate_scatter_elements},
    {"", "ScatterND", translate_scatter_nd},
};

}  // namespace

std::span<const OnnxOperator> gathering_operators() { return kOperators; }

}  // namespace whyformer::onnx
