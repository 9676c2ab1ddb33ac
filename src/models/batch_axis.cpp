#include "models/batch_axis.h"

#include <algorithm>

#include "graph/axis_use.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

// Vectors or ids: a picture has its batch in front.
bool may_be_sequence(const Graph& graph, Value input) {
  const bool ids = graph.type(input).dtype == DType::kInt64;
  return graph.shape(input).size() == (ids ? 2 : 3);
}

BatchPlace find_batch(const Graph& graph, Value input) {
  const Shape& shape = graph.shape(input);
  if (shape.size() < 2 || shape[0] <= 1) return {};
  const AxisUse first(graph, input, 0);
  if (first.stays_apart()) return {};
  const bool sequence = may_be_sequence(graph, input);
  if (sequence && shape[1] > 1 && AxisUse(graph, input, 1).stays_apart()) return {BatchAxis::kSecond};
  const bool vectors = graph.type(input).dtype != DType::kInt64;
  if (sequence && shape[1] == 1 && (vectors || first.has_attention())) return {BatchAxis::kSecond, first.has_attention()};
  if (first.has_attention()) return {BatchAxis::kNone};
  return {BatchAxis::kFirst, false};
}

Shape shape_in_front(Shape shape, BatchAxis axis) {
  if (axis == BatchAxis::kSecond) std::swap(shape[0], shape[1]);
  if (axis == BatchAxis::kNone) shape.insert(shape.begin(), 1);
  return shape;
}

// An input with the batch in front, and behind it the value that the file has.
Value turned_input(GraphBuilder& builder, const ValueType& type, const std::string& name, BatchAxis axis, Value& input) {
  input = builder.input(name, shape_in_front(type.shape, axis), type.dtype, InputRole::kExplained);
  if (axis == BatchAxis::kNone) return reshape(builder, input, type.shape, name);
  std::vector<int> order{1, 0};
  while (order.size() < type.shape.size()) order.push_back(static_cast<int>(order.size()));
  return transpose(builder, input, order, name);
}

}  // namespace

BatchPlaces find_batches(const onnx::BuiltGraph& built) {
  BatchPlaces places;
  for (const auto& [name, value] : built.inputs) {
    if (built.graph.varies(value)) places[name] = find_batch(built.graph, value);
  }
  return places;
}

bool may_have_tokens_first(const Graph& graph, Value input) {
  const Shape& shape = graph.shape(input);
  const bool attends = std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) { return node.op->is_softmax(); });
  return attends && graph.varies(input) && may_be_sequence(graph, input) && shape[0] == 1 && shape[1] > 1 &&
         AxisUse(graph, input, 1).stays_apart();
}

bool has_tokens_first(const Graph& graph, Value input) {
  return graph.shape(input)[0] > 1 && AxisUse(graph, input, 0).has_attention();
}

onnx::BuiltGraph with_batch_in_front(onnx::BuiltGraph built, const BatchPlaces& places) {
  const auto in_front = [](const auto& one) { return one.second.axis == BatchAxis::kFirst; };
  if (std::all_of(places.begin(), places.end(), in_front)) return built;
  const Graph& graph = built.graph;
  GraphBuilder builder(Folding::kYes);
  std::vector<Value> renamed(graph.value_count()), fed(graph.value_count());
  for (const Value value : graph.inputs()) {
    const ValueType& type = graph.type(value);
    const auto place = places.find(graph.name(value));
    if (place != places.end() && !in_front(*place)) {
      renamed[value.id] = turned_input(builder, type, graph.name(value), place->second.axis, fed[value.id]);
    } else {
      const InputRole role = graph.varies(value) ? InputRole::kExplained : InputRole::kGiven;
      renamed[value.id] = fed[value.id] = builder.input(graph.name(value), type.shape, type.dtype, role);
    }
  }
  for (const Node& node : graph.nodes()) {
    std::vector<Value> inputs;
    for (const Value input : node.inputs) inputs.push_back(renamed[input.id]);
    const std::vector<Value> outputs = builder.add_all(node.op, std::move(inputs), node.name);
    for (size_t i = 0; i < outputs.size(); ++i) renamed[node.outputs[i].id] = outputs[i];
  }
  onnx::BuiltGraph result;
  for (const auto& [name, value] : built.inputs) result.inputs[name] = fed[value.id];
  for (const auto& [name, value] : built.values) result.values[name] = renamed[value.id];
  result.graph = builder.finish();
  return result;
}

Tensor with_batch_in_front(const Tensor& array, BatchAxis axis) {
  if (axis == BatchAxis::kFirst) return array;
  if (axis == BatchAxis::kSecond) return array.transpose(0, 1).contiguous();
  return array.reshape(shape_in_front(array.shape(), axis));
}

Tensor as_in_file(const Tensor& array, BatchAxis axis) {
  if (axis == BatchAxis::kFirst) return array;
  return axis == BatchAxis::kSecond ? array.transpose(0, 1).contiguous() : array.select(0, 0);
}

int64_t batch_length(const Shape& shape, BatchAxis axis) {
  return axis == BatchAxis::kNone ? 1 : shape[axis == BatchAxis::kFirst ? 0 : 1];
}

}  // namespace whyformer
