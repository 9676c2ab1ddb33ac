#include "studies/concepts/activations.h"

#include <algorithm>

#include "graph/walk_back.h"

namespace whyformer {
namespace {

constexpr int64_t kTokensInBatch = 1024;  // tokens; products gain nothing from more

enum class Quantity { kActivation, kGradient };

// A sample's tensor [tokens, width] as one row.
std::vector<float> row_of(const Tensor& sample, TokenRows rows, Quantity quantity) {
  const Tensor floats = sample.cast(DType::kFloat32).contiguous();
  const float* data = floats.data<float>();
  const int64_t tokens = floats.dim(0), width = floats.dim(1);
  if (rows == TokenRows::kAll) return {data, data + tokens * width};
  if (rows == TokenRows::kFirst) return {data, data + width};
  if (rows == TokenRows::kLast) return {data + (tokens - 1) * width, data + tokens * width};
  std::vector<double> sums(width, 0);
  for (int64_t token = 0; token < tokens; ++token) {
    for (int64_t i = 0; i < width; ++i) sums[i] += data[token * width + i];
  }
  // Moving the mean by ε v moves every token by ε v: the gradient there is the sum over tokens.
  const double share = quantity == Quantity::kActivation ? 1 / static_cast<double>(tokens) : 1;
  std::vector<float> row;
  for (const double sum : sums) row.push_back(static_cast<float>(share * sum));
  return row;
}

void hand_over(const Tensor& values, std::span<const int64_t> examples, size_t slot,
               Quantity quantity, const RowRequest& request) {
  for (size_t i = 0; i < examples.size(); ++i) {
    request.take(examples[i], slot,
                 row_of(values.select(0, static_cast<int64_t>(i)), request.rows, quantity));
  }
}

LastBlock last_block_for(const std::vector<int>& layers, size_t blocks) {
  const bool last =
      std::find(layers.begin(), layers.end(), static_cast<int>(blocks) - 1) != layers.end();
  return last ? LastBlock::kAllRows : LastBlock::kReadRows;
}

// Calls run(graph, examples) for batches of examples of one length, the shortest first.
template <typename Run>
void in_batches(const ConceptInputs& inputs, std::span<const int64_t> examples,
                const RowRequest& request, const Run& run) {
  std::vector<int64_t> order(examples.begin(), examples.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return inputs.length(a) < inputs.length(b); });
  for (size_t first = 0; first < order.size();) {
    const int64_t length = inputs.length(order[first]);
    const BlockGraph one = inputs.graph(length, 1, LastBlock::kReadRows);
    const LastBlock last = last_block_for(request.layers, one.blocks.size());
    const int64_t tokens = one.graph->shape(one.blocks[0])[1];
    const auto most = static_cast<size_t>(std::clamp<int64_t>(
        kTokensInBatch / std::max<int64_t>(1, tokens), 1, inputs.max_at_once()));
    size_t end = first;
    while (end < order.size() && end - first < most && inputs.length(order[end]) == length) ++end;
    const std::span<const int64_t> batch(order.data() + first, end - first);
    run(inputs.graph(length, static_cast<int64_t>(batch.size()), last), batch);
    if (request.done) request.done(static_cast<int64_t>(batch.size()));
    first = end;
  }
}

std::vector<Value> values_of(const BlockGraph& graph, const std::vector<int>& layers) {
  std::vector<Value> values;
  for (const int layer : layers) values.push_back(graph.blocks[layer]);
  return values;
}

}  // namespace

int64_t row_width(const ConceptInputs& inputs, int64_t length, int layer, TokenRows rows) {
  const BlockGraph graph = inputs.graph(length, 1, LastBlock::kAllRows);
  const Shape& shape = graph.graph->shape(graph.blocks[layer]);
  return rows == TokenRows::kAll ? shape[1] * shape[2] : shape[2];
}

void take_activations(const ConceptInputs& inputs, std::span<const int64_t> examples,
                      const RowRequest& request) {
  in_batches(inputs, examples, request,
             [&](const BlockGraph& graph, std::span<const int64_t> batch) {
               const std::vector<Value> wanted = values_of(graph, request.layers);
               const Pass pass = run(*graph.graph, inputs.feeds(graph, batch), {.outputs = wanted});
               for (size_t slot = 0; slot < wanted.size(); ++slot) {
                 hand_over(pass[wanted[slot]], batch, slot, Quantity::kActivation, request);
               }
             });
}

void take_gradients(const ConceptInputs& inputs, std::span<const int64_t> examples, int64_t output,
                    const RowRequest& request) {
  in_batches(inputs, examples, request,
             [&](const BlockGraph& graph, std::span<const int64_t> batch) {
               const std::vector<Value> wanted = values_of(graph, request.layers);
               const Value lowest =
                   graph.blocks[*std::min_element(request.layers.begin(), request.layers.end())];
               Feeds feeds = inputs.feeds(graph, batch);
               feeds[lowest] = run(*graph.graph, feeds, {.outputs = {lowest}})[lowest];
               const Pass pass =
                   run(*graph.graph, feeds, {.keep = Keep::kGradients, .outputs = {graph.output}});
               const ValueType& type = graph.graph->type(graph.output);
               Tensor seed = Tensor::zeros(type.shape, type.dtype);
               seed.slice(1, output, 1).fill(1);
               const auto gradients =
                   walk_back(*graph.graph, pass, graph.output, seed, gradient_rule(), wanted);
               for (size_t slot = 0; slot < wanted.size(); ++slot) {
                 hand_over(gradients.at(wanted[slot]), batch, slot, Quantity::kGradient, request);
               }
             });
}

}  // namespace whyformer
