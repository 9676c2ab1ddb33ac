#include "models/one_query.h"

#include <optional>
#include <vector>

#include "graph/held_weights.h"
#include "graph/op_abilities.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

// A Linear whose features are seen as those of heads.
struct HeadedLinear {
  Value x;  // [batch, tokens, in]
  const LinearWeights* weights = nullptr;
};

// One token's attention: context = softmax(query·keys)·values.
struct SingleQuery {
  size_t softmax = 0;
  Value query, context;  // [batch, heads, 1, width]
  HeadedLinear keys, values;
};

// Whether views of fresh memory end as that memory with these strides.
bool end_with_strides(const std::vector<const Node*>& views, const ValueType& type,
                      const Shape& strides) {
  const Tensor start = Tensor::empty(type.shape, DType::kFloat32);
  Tensor seen = start;
  for (size_t i = views.size(); i-- > 0;) {
    Tensors inputs{seen};
    seen = views[i]->op->forward(inputs, KeepForBackward::kNo).outputs[0];
  }
  if (seen.data<float>() != start.data<float>()) return false;
  for (int axis = 0; axis < seen.rank(); ++axis) {
    if (seen.dim(axis) > 1 && seen.stride(axis) != strides[axis]) return false;
  }
  return true;
}

// What makes `value`, whose axes are the batch, heads, and then tokens and a head's features in one
// order or the other.
std::optional<HeadedLinear> headed_linear(const Graph& graph, Value value, int token_axis) {
  const Shape& shape = graph.shape(value);
  const int64_t tokens = shape[token_axis], width = shape[5 - token_axis],
                features = shape[1] * width;
  std::vector<const Node*> views;
  while (graph.producer(value) >= 0) {
    const Node& node = graph.nodes()[graph.producer(value)];
    if (!is_a<ops::Reshape, ops::Transpose>(*node.op)) break;
    views.push_back(&node);
    value = node.inputs[0];
  }
  if (graph.producer(value) < 0) return std::nullopt;
  const Node& node = graph.nodes()[graph.producer(value)];
  const LinearWeights* weights = linear_weights(*node.op);
  // Rounded ones hold none that could be taken apart.
  if (weights == nullptr || able_to<HoldsWeights>(*node.op) == nullptr) return std::nullopt;
  if (graph.shape(value) != Shape{shape[0], tokens, features}) return std::nullopt;
  Shape strides{tokens * features, width, features, features};
  strides[5 - token_axis] = 1;
  if (!end_with_strides(views, graph.type(value), strides)) return std::nullopt;
  return HeadedLinear{node.inputs[0], weights};
}

std::optional<SingleQuery> single_query_at(const Graph& graph, size_t index) {
  const Node& softmax = graph.nodes()[index];
  if (!is_a<ops::Softmax>(*softmax.op) || softmax.inputs.size() > 1) return std::nullopt;
  const Shape& scores = graph.shape(softmax.inputs[0]);
  if (scores.size() != 4 || scores[2] != 1 || scores[3] == 1) return std::nullopt;
  const int producer = graph.producer(softmax.inputs[0]);
  const std::vector<int>& users = graph.users(softmax.outputs[0]);
  if (producer < 0 || users.size() != 1) return std::nullopt;
  const Node& product = graph.nodes()[producer];
  const Node& sum = graph.nodes()[users[0]];
  if (!is_a<ops::MatMul>(*product.op) || !is_a<ops::MatMul>(*sum.op)) return std::nullopt;
  if (sum.inputs[0] != softmax.outputs[0] || graph.shape(product.inputs[0]).size() != 4 ||
      graph.shape(product.inputs[1]).size() != 4 || graph.shape(sum.inputs[1]).size() != 4) {
    return std::nullopt;
  }
  for (const Value stack : {product.inputs[0], product.inputs[1], sum.inputs[1]}) {
    const Shape& shape = graph.shape(stack);  // nothing is repeated over inputs or heads
    if (shape[0] != scores[0] || shape[1] != scores[1]) return std::nullopt;
  }
  const auto keys = headed_linear(graph, product.inputs[1], 3);
  const auto values = headed_linear(graph, sum.inputs[1], 2);
  if (!keys || !values) return std::nullopt;
  return SingleQuery{index, product.inputs[0], sum.outputs[0], *keys, *values};
}

// [heads, width, in].
Tensor by_head(const HeadedLinear& linear, int64_t heads) {
  const LinearWeights& weights = *linear.weights;
  return weights.weight().reshape({heads, weights.out_features() / heads, weights.in_features()});
}

Value context_of(GraphBuilder& graph, const SingleQuery& one, const Node& softmax,
                 const std::string& name) {
  const Shape shape = graph.shape(one.query);
  const int64_t batch = shape[0], heads = shape[1], width = shape[3];
  const auto at_heads = [&](Value x, Tensor matrices) {  // [batch, heads, …]: its matrix for each
    const Value turned = transpose(graph, x, {1, 0, 2}, name);
    const Value product = matmul(graph, turned, graph.constant(std::move(matrices), name), name);
    return transpose(graph, product, {1, 0, 2}, name);
  };
  const Value query = reshape(graph, one.query, {batch, heads, width}, name);
  const Value asking = at_heads(query, by_head(one.keys, heads));
  const Value tokens = transpose(graph, one.keys.x, {0, 2, 1}, name);
  const Value scores = matmul(graph, asking, tokens, name);
  const Value map = graph.add(softmax.op, {scores}, name);
  const Value sum = matmul(graph, map, one.values.x, name);
  const Tensor matrices = by_head(one.values, heads).transpose(-1, -2);
  const int64_t own_width = matrices.dim(2);
  const Value context = reshape(graph, at_heads(sum, matrices), {batch, heads, 1, own_width}, name);
  const Tensor& bias = one.values.weights->bias();
  if (!bias.defined()) return context;
  return add(graph, context, graph.constant(bias.reshape({1, heads, 1, own_width}), name), name);
}

}  // namespace

bool fold_single_queries(Graph& graph) {
  std::vector<SingleQuery> found;
  for (size_t index = 0; index < graph.nodes().size(); ++index) {
    if (const auto one = single_query_at(graph, index)) found.push_back(*one);
  }
  if (found.empty()) return false;
  const Graph before = graph;
  GraphBuilder builder(graph, Folding::kNo);
  for (const SingleQuery& one : found) {
    const Node& softmax = before.nodes()[one.softmax];
    builder.read_instead(one.context, context_of(builder, one, softmax, softmax.name));
  }
  graph = builder.finish();
  return true;
}

}  // namespace whyformer
