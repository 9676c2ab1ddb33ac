#include "tests/support/small_attention.h"

namespace whyformer {

Value SmallAttention::stream(const std::string& name, int64_t tokens, int64_t batch) {
  return graph.input(name, {batch, tokens, kWidth}, DType::kFloat32);
}

Value SmallAttention::learned(int64_t tokens) {
  return graph.constant(Tensor::zeros({1, tokens, kWidth}, DType::kFloat32), "learned");
}

Value SmallAttention::heads_of(Value x, const std::string& name) {
  const Shape shape = graph.shape(x);
  return transpose(graph, reshape(graph, x, {shape[0], shape[1], 2, kWidth / 2}, name),
                   {0, 2, 1, 3}, name);
}

Value SmallAttention::attend(Value queries, Value keys, const std::string& name, Value mask) {
  const Value q = heads_of(queries, name), k = heads_of(keys, name);
  const Value scores = matmul(graph, q, transpose(graph, k, {0, 1, 3, 2}, name), name);
  const Value context = matmul(graph, softmax(graph, scores, mask, 0.5, name), k, name);
  return reshape(graph, transpose(graph, context, {0, 2, 1, 3}, name), graph.shape(queries), name);
}

Value SmallAttention::layer(Value queries, Value keys, const std::string& name, Value mask) {
  return add(graph, queries, attend(queries, keys, name, mask), name + "/sum");
}

}  // namespace whyformer
