#include "models/batch_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "discovery/axis_use.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Vectors or ids: a picture has its batch in front.
bool may_be_sequence(const Graph& graph, Value input) {
  const bool ids = graph.type(input).dtype == DType::kInt64;
  return graph.shape(input).size() == (ids ? 2 : 3);
}

bool is_of_features(const Graph& graph, Value input, int axis) {
  return graph.shape(input)[axis] > 1 && AxisUse(graph, input, axis).is_of_features();
}

// Of an input with several in front, by itself.
BatchPlace place_by_use(const Graph& graph, Value input) {
  const Shape& shape = graph.shape(input);
  const AxisUse first(graph, input, 0);
  const bool ids = graph.type(input).dtype == DType::kInt64;
  if (shape.size() < 2)
    return {ids && first.has_attention() ? BatchAxis::kNone : BatchAxis::kFirst};
  if (first.stays_apart()) return {};
  const bool sequence_of_tokens = may_be_sequence(graph, input) && has_attention(graph);
  if (sequence_of_tokens && shape[1] == 1 && (!ids || first.has_attention()))
    return {BatchAxis::kSecond, first.has_attention()};
  if (sequence_of_tokens && shape[1] > 1) {
    const AxisUse second(graph, input, 1);
    if (second.stays_apart()) return {BatchAxis::kSecond};
    // What is neither tokens nor numbers of a token can only be a batch, though something behind
    // the layers mixes it.
    const bool mixed = first.has_attention() && !second.has_attention();
    if (mixed && (ids || is_of_features(graph, input, 2))) return {BatchAxis::kSecond, false};
  }
  if (first.has_attention()) return {BatchAxis::kNone};
  return {BatchAxis::kFirst, false};
}

// Whether the file's inputs that tell where their batch is have several, or have it behind the
// tokens.
struct Others {
  std::optional<int64_t> batch;
  bool any_first = false, any_second = false;
};

// An input [1, several, …] has a batch of one in front of its tokens, or a single token in front of
// a batch.
BatchPlace place_of_one(const Graph& graph, Value input, const Others& others) {
  const Shape& shape = graph.shape(input);
  if (!may_be_sequence(graph, input)) return {};
  // A batch has nothing put beside it.
  const bool joined = AxisUse(graph, input, 0).has_attention();
  if (joined) return {BatchAxis::kSecond};
  if (shape[1] == 1) {
    const bool like_others = others.any_second && !others.any_first;
    return {like_others ? BatchAxis::kSecond : BatchAxis::kFirst, !has_attention(graph)};
  }
  if (!may_have_tokens_first(graph, input)) return {};
  if (others.batch) return {*others.batch == shape[1] ? BatchAxis::kSecond : BatchAxis::kFirst};
  const bool ids = graph.type(input).dtype == DType::kInt64;
  return {ids || is_of_features(graph, input, 2) ? BatchAxis::kSecond : BatchAxis::kFirst, false};
}

Shape shape_in_front(Shape shape, BatchAxis axis) {
  if (axis == BatchAxis::kSecond) std::swap(shape[0], shape[1]);
  if (axis == BatchAxis::kNone) shape.insert(shape.begin(), 1);
  return shape;
}

// An input with the batch in front, and behind it the value that the file has.
Value turned_input(GraphBuilder& builder, const ValueType& type, const std::string& name,
                   BatchAxis axis, Value& input) {
  input = builder.input(name, shape_in_front(type.shape, axis), type.dtype, InputRole::kExplained);
  if (axis == BatchAxis::kNone) return reshape(builder, input, type.shape, name);
  std::vector<int> order{1, 0};
  while (order.size() < type.shape.size()) order.push_back(static_cast<int>(order.size()));
  return transpose(builder, input, order, name);
}

}  // namespace

BatchPlaces find_batches(const onnx::BuiltGraph& built) {
  BatchPlaces places;
  Others others;
  std::vector<std::string> ones;
  for (const auto& [name, value] : built.inputs) {
    const Shape& shape = built.graph.shape(value);
    if (!built.graph.varies(value) || shape.empty() || shape[0] == 0) continue;
    if (shape[0] > 1) {
      places[name] = place_by_use(built.graph, value);
      others.any_second |= places[name].axis == BatchAxis::kSecond;
      others.any_first |= places[name].axis == BatchAxis::kFirst;
      if (shape.size() >= 2) others.batch = batch_length(shape, places[name].axis);
    } else if (shape.size() == 4 || (shape.size() >= 2 && shape[1] > 1 &&
                                     AxisUse(built.graph, value, 1).has_attention())) {
      others.any_first = true;
      others.batch = 1;
    } else if (shape.size() >= 2) {
      ones.push_back(name);
    }
  }
  for (const std::string& name : ones)
    places[name] = place_of_one(built.graph, built.inputs.at(name), others);
  return places;
}

void tell_batches(const onnx::BuiltGraph& built, const BatchAxes& told, BatchPlaces& places) {
  for (const auto& [name, axis] : told) {
    const auto input = built.inputs.find(name);
    if (input == built.inputs.end() || !built.graph.varies(input->second)) {
      throw InvalidInput(
          fmt::format("the model explains no input '{}', so it takes no batch axis", name));
    }
    const Shape& shape = built.graph.shape(input->second);
    if (axis && (*axis < 0 || *axis > 1 || *axis >= static_cast<int>(shape.size()))) {
      throw InvalidInput(
          fmt::format("the batch of '{}' {} is its first or second axis, 0 or 1, or none; not {}",
                      name, to_string(shape), *axis));
    }
    places[name] = {!axis ? BatchAxis::kNone : *axis == 0 ? BatchAxis::kFirst : BatchAxis::kSecond};
  }
}

bool may_have_tokens_first(const Graph& graph, Value input) {
  const Shape& shape = graph.shape(input);
  return has_attention(graph) && graph.varies(input) && may_be_sequence(graph, input) &&
         shape[0] == 1 && shape[1] > 1 && AxisUse(graph, input, 1).stays_apart();
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
      renamed[value.id] =
          turned_input(builder, type, graph.name(value), place->second.axis, fed[value.id]);
    } else {
      const InputRole role = graph.varies(value) ? InputRole::kExplained : InputRole::kGiven;
      renamed[value.id] = fed[value.id] =
          builder.input(graph.name(value), type.shape, type.dtype, role);
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
