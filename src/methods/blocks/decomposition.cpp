#include "methods/blocks/decomposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "base/parallel.h"
#include "base/pulse.h"
#include "kernels/gemm.h"
#include "ops/helpers.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Fewer vectors in one product would mean reading the weights again and again.
constexpr int64_t kVectorsAtOnce = 64;

// Calls body(first, count) for groups of rows, in parallel.
void for_row_groups(int64_t rows, int64_t tokens,
                    const std::function<void(int64_t first, int64_t count)>& body) {
  const int64_t step = std::max<int64_t>(1, kVectorsAtOnce / tokens);
  parallel_for(rows, step, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row += step) {
      pulse();
      body(row, std::min(step, end - row));
    }
  });
}

std::vector<double> bias_of(const LinearWeights& weights) {
  return weights.bias().defined() ? weights.bias().to_doubles()
                                  : std::vector<double>(weights.out_features(), 0.0);
}

// W_O·b_V + b_O: what the biases of values and output projection add to a row, attention adding up
// to 1.
std::vector<double> attention_bias(const EncoderBlock& block) {
  const LinearWeights& projection = *linear_weights(*block.output_projection->op);
  const std::vector<double> value_bias = bias_of(*linear_weights(*block.value_projection->op));
  const std::vector<double> weight = projection.weight().to_doubles();
  std::vector<double> bias = bias_of(projection);
  for (size_t out = 0; out < bias.size(); ++out) {
    for (size_t in = 0; in < value_bias.size(); ++in) {
      bias[out] += weight[out * value_bias.size() + in] * value_bias[in];
    }
  }
  return bias;
}

// values[i,k] ← Σ_j A_h[i,j] values[j,k] for each head's part of the width, in place: the vectors
// of one source token k mix only with each other.
template <typename T>
void mix(const Tensor& maps, Tensor& values) {
  const int64_t heads = maps.dim(0), rows = maps.dim(1), tokens = maps.dim(2);
  const int64_t width = values.dim(2);
  parallel_for(tokens, 1, [&](int64_t begin, int64_t end) {
    std::vector<T> source(tokens * width);
    for (int64_t k = begin; k < end; ++k) {
      pulse();
      T* vectors = values.mutable_data<T>() + k * width;
      for (int64_t j = 0; j < tokens; ++j) {
        std::copy_n(vectors + j * tokens * width, width, source.data() + j * width);
      }
      ProductStack<T> products;
      products.inner = heads;
      products.a = {maps.data<T>(), rows, tokens, tokens, 1};
      products.a_inner = rows * tokens;
      products.b = {source.data(), tokens, width / heads, width, 1};
      products.b_inner = width / heads;
      products.c = {vectors, rows, width / heads, tokens * width, 1};
      products.c_inner = width / heads;
      multiply_stack(products);
    }
  });
}

// What an operator behind the last block does to the vectors.
enum class HeadStep { kLinear, kNorm, kUnitLength, kActivation, kAffine };

using ComesFromBlock = std::function<bool(Value)>;

// Put together what their inputs hold: those that do not come from the last block make a constant.
bool puts_together(const Op& op) { return is_a<ops::Add, ops::Sub, ops::Concat, ops::Where>(op); }

// Whether the operator is linear, but for a constant, in those of its inputs that come from the
// last block.
bool is_affine(const Graph& graph, const Node& node, const ComesFromBlock& comes_from_block) {
  const auto is_float = [&](Value value) { return graph.type(value).dtype != DType::kInt64; };
  if (!is_float(node.outputs[0])) return false;
  const Op& op = *node.op;
  const bool of_one_input =
      is_a<ops::Reshape, ops::Transpose, ops::Slice, ops::StridedSlice, ops::Expand, ops::Tile,
           ops::Mean, ops::ReduceSum, ops::ReduceMean, ops::Neg, ops::Cast>(op);
  if (of_one_input) return is_float(node.inputs[0]);
  if (is_a<ops::Where>(op)) return !comes_from_block(node.inputs[0]);
  if (puts_together(op)) return true;
  if (node.inputs.size() != 2) return false;
  const bool first = comes_from_block(node.inputs[0]), second = comes_from_block(node.inputs[1]);
  if (is_a<ops::Mul, ops::MatMul>(op)) return first != second;
  return is_a<ops::Div, ops::Gather>(op) && !second;
}

std::optional<HeadStep> head_step(const Graph& graph, const Node& node,
                                  const ComesFromBlock& comes_from_block) {
  const Op& op = *node.op;
  if (is_a<ops::Linear>(op)) return HeadStep::kLinear;
  if (is_a<ops::LayerNorm>(op)) return HeadStep::kNorm;
  if (is_a<ops::L2Normalise>(op)) return HeadStep::kUnitLength;
  if (is_a<ops::Activation>(op)) return HeadStep::kActivation;
  if (is_affine(graph, node, comes_from_block)) return HeadStep::kAffine;
  return std::nullopt;
}

// Something that depends on the input and reaches the operator on a way around the last block; its
// share in the output would belong to tokens that the vectors do not tell. An index only chooses.
std::optional<Value> read_around_block(const Graph& graph, const Node& node,
                                       const ComesFromBlock& comes_from_block) {
  for (const Value input : node.inputs) {
    const bool index = is_a<ops::Gather>(*node.op) && input == node.inputs[1];
    if (!index && graph.varies(input) && !comes_from_block(input)) return input;
  }
  return std::nullopt;
}

// Whether the first axis of what comes from the last block is still the first.
bool carries_first_axis(const Graph& graph, const Node& node,
                        const ComesFromBlock& comes_from_block) {
  std::vector<ValueType> types;
  for (const Value input : node.inputs) types.push_back(graph.type(input));
  const auto flow = node.op->follow(0, types);
  for (size_t i = 0; flow && i < node.inputs.size(); ++i) {
    if (comes_from_block(node.inputs[i]) && (i >= flow->sources.size() || flow->sources[i] != 0))
      return false;
  }
  return flow.has_value();
}

// Behind the last layer.
[[noreturn]] void refuse_head(const Node& node, const std::string& why) {
  throw UnsupportedModel(
      fmt::format("decompx cannot carry vectors through {} '{}' behind the last layer: {}",
                  node.op->kind(), node.name, why));
}

}  // namespace

int64_t Decomposition::memory_needed(const Graph& graph, const EncoderBlock& block) {
  const Shape& stream = graph.shape(block.input);
  const int64_t tokens = stream[1];
  const int64_t widths = stream[2] + graph.shape(block.value_projection->outputs[0])[2];
  return tokens * tokens * widths * element_size(graph.type(block.input).dtype);
}

void Decomposition::through(const EncoderBlock& block) {
  std::vector<double> bias;
  if (!vectors_.defined()) {
    // The values as they are, bias included: only the projection's own is left to share out.
    vectors_ = after_first_attention(block);
    bias = bias_of(*linear_weights(*block.output_projection->op));
  } else {
    add_attention(block);
    bias = attention_bias(block);
  }
  for_row_groups(block.rows, vectors_.dim(1), [&](int64_t first, int64_t count) {
    share_bias(vectors_.slice(0, first, count), bias, sharing_);
    finish_rows(block, first, count);
  });
  of_values_ = {{block.output(), vectors_}};
}

Tensor Decomposition::after_first_attention(const EncoderBlock& block) const {
  const BlockVectors start(block, pass_, sample_, {.reach = Reach::kResidual});
  Tensor result =
      Tensor::empty({start.rows(), start.tokens(), start.width()}, graph_.type(block.input).dtype);
  with_float_type(result.dtype(), [&](auto zero) {
    auto* to = result.mutable_data<decltype(zero)>();
    start.for_each([&](int64_t i, int64_t k, std::span<const double> vector) {
      std::copy(vector.begin(), vector.end(), to + (i * start.tokens() + k) * start.width());
    });
  });
  return result;
}

// a_{i←k} = Σ_h Σ_j A_h[i,j] (W_V^h x_{j←k}) W_O^h on top of the stream, whose rows are those the
// block goes on with.
void Decomposition::add_attention(const EncoderBlock& block) {
  const Tensor mixed = mixed_values(block);
  vectors_ = vectors_.slice(0, block.first_row, block.rows);
  for_row_groups(block.rows, vectors_.dim(1), [&](int64_t first, int64_t count) {
    add_linear(mixed.slice(0, first, count), *linear_weights(*block.output_projection->op),
               vectors_.slice(0, first, count));
  });
}

Tensor Decomposition::mixed_values(const EncoderBlock& block) const {
  const LinearWeights& projection = *linear_weights(*block.value_projection->op);
  const int64_t tokens = vectors_.dim(1);
  Tensor values = Tensor::empty({tokens, tokens, projection.out_features()}, vectors_.dtype());
  for_row_groups(tokens, tokens, [&](int64_t first, int64_t count) {
    Tensor read = vectors_.slice(0, first, count);
    if (block.attended.norm_before != nullptr) {
      read = read.copy();
      norm(*block.attended.norm_before, read, first);
    }
    values.slice(0, first, count).copy_from(linear_of(read, projection));
  });
  const Tensor maps = map_rows(block, pass_, sample_).contiguous();
  with_float_type(values.dtype(), [&](auto zero) { mix<decltype(zero)>(maps, values); });
  return values.slice(0, 0, block.rows);
}

// Some rows from behind the attention's residual path to the end of the block; each row by itself.
void Decomposition::finish_rows(const EncoderBlock& block, int64_t first, int64_t count) {
  const Tensor stream = vectors_.slice(0, first, count);
  if (block.attended.norm_after != nullptr) norm(*block.attended.norm_after, stream, first);
  Tensor read = stream;
  if (block.fed_forward.norm_before != nullptr) {
    read = stream.copy();
    norm(*block.fed_forward.norm_before, read, first);
  }
  const Tensor hidden = linear(*block.inner, read);
  activation(*block.activation, hidden, first);
  add_vectors(stream, linear(*block.outer, hidden));
  if (block.fed_forward.norm_after != nullptr) norm(*block.fed_forward.norm_after, stream, first);
}

Tensor Decomposition::linear(const Node& node, const Tensor& vectors) const {
  const LinearWeights& weights = *linear_weights(*node.op);
  const Tensor result = linear_of(vectors, weights);
  share_bias(result, bias_of(weights), sharing_);
  return result;
}

void Decomposition::norm(const Node& node, Tensor vectors, int64_t first_row) const {
  carry_through_norm(vectors, norm_step(node, pass_, sample_, first_row, vectors.dim(0)), sharing_);
}

void Decomposition::activation(const Node& node, Tensor vectors, int64_t first_row) const {
  const Tensor states = state_rows(pass_, node.inputs[0], sample_);
  carry_through_activation(vectors, *activation_function(*node.op),
                           states.slice(0, first_row, vectors.dim(0)), sharing_);
}

// What the operator gives where its inputs from the last block are the vectors of one token and
// nothing is put beside them; without a token, what is put beside them.
Tensor Decomposition::outcome_of(const Node& node, std::optional<int64_t> token) const {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Value input = node.inputs[i];
    const auto found = of_values_.find(input);
    const bool condition = is_a<ops::Where>(*node.op) && i == 0;
    if (found == of_values_.end() && (!token || condition || !puts_together(*node.op))) {
      inputs.push_back(pass_[input]);
      continue;
    }
    Tensor given = Tensor::zeros(graph_.shape(input), graph_.type(input).dtype);
    if (token && found != of_values_.end()) {
      Tensor own = given.select(0, sample_);
      own.copy_from(found->second.select(1, *token).contiguous().reshape(own.shape()));
    }
    inputs.push_back(given);
  }
  return state_rows(node.op->forward(inputs, KeepForBackward::kNo).outputs[0], sample_);
}

// Each vector by itself; what is put beside them is shared out like a bias.
Tensor Decomposition::affine(const Node& node) const {
  const int64_t tokens = vectors_.dim(1);
  Tensor result;
  for (int64_t k = 0; k < tokens; ++k) {
    pulse();
    const Tensor one = outcome_of(node, k);
    if (k == 0) result = Tensor::empty({one.dim(0), tokens, one.dim(1)}, one.dtype());
    result.select(1, k).copy_from(one);
  }
  if (!puts_together(*node.op)) return result;
  const Tensor constant = outcome_of(node, std::nullopt);
  for (int64_t row = 0; row < constant.dim(0); ++row) {
    const std::vector<double> bias = constant.select(0, row).to_doubles();
    const auto infinite = [](double x) { return !std::isfinite(x); };
    if (std::any_of(bias.begin(), bias.end(), infinite))
      refuse_head(node, "it puts something infinite beside them");
    share_bias(result.slice(0, row, 1), bias, sharing_);
  }
  return result;
}

// What no operator after this one reads.
void Decomposition::forget_read(const Node& node) {
  const int done = graph_.producer(node.outputs[0]);
  for (const Value input : node.inputs) {
    const std::vector<int>& users = graph_.users(input);
    if (std::all_of(users.begin(), users.end(), [&](int user) { return user <= done; }))
      of_values_.erase(input);
  }
}

void Decomposition::through_head(const Node& node) {
  const auto step =
      head_step(graph_, node, [&](Value value) { return of_values_.contains(value); });
  switch (step.value()) {
    case HeadStep::kLinear:
      vectors_ = linear(node, of_values_.at(node.inputs[0]));
      break;
    case HeadStep::kNorm:
      vectors_ = of_values_.at(node.inputs[0]).copy();
      norm(node, vectors_, 0);
      break;
    case HeadStep::kUnitLength:
      vectors_ = of_values_.at(node.inputs[0]).copy();
      divide_by_length(vectors_, state_rows(pass_, node.inputs[0], sample_));
      break;
    case HeadStep::kActivation:
      vectors_ = of_values_.at(node.inputs[0]).copy();
      activation(node, vectors_, 0);
      break;
    case HeadStep::kAffine:
      vectors_ = affine(node);
      break;
  }
  of_values_[node.outputs[0]] = vectors_;
  forget_read(node);
}

void Decomposition::check(const Graph& graph, const std::vector<EncoderBlock>& blocks,
                          const std::vector<const Node*>& head) {
  for (const EncoderBlock& block : blocks) {
    if (block.inner != nullptr) continue;
    throw UnsupportedModel(
        fmt::format("decompx knows feed-forward parts of two linear maps with an activation "
                    "between them, but the part behind attention '{}' is another (a gated one, "
                    "say): alti, globenc and attention-norm do without",
                    block.name));
  }
  int64_t batch = graph.shape(blocks.back().output())[0];
  std::set<Value> derived{blocks.back().output()};
  const auto comes_from_block = [&](Value value) { return derived.contains(value); };
  for (const Node* node : head) {
    if (const auto around = read_around_block(graph, *node, comes_from_block)) {
      refuse_head(*node, fmt::format("it also reads '{}', which comes from before that layer",
                                     graph.name(*around)));
    }
    if (!head_step(graph, *node, comes_from_block)) {
      refuse_head(*node,
                  "it knows norms, linear maps, activations, lengths, and what moves numbers, adds "
                  "them up or averages them");
    }
    // Samples are told apart by the first axis; the first of them may go on alone.
    const Shape& shape = graph.shape(node->outputs[0]);
    const auto rows = sliced_rows(*node->op);
    const bool first_alone = rows && rows->axis == 0 && rows->start == 0;
    if (first_alone) batch = rows->length;
    const bool in_front =
        !shape.empty() && shape[0] == batch &&
        (batch == 1 || first_alone || carries_first_axis(graph, *node, comes_from_block));
    if (!in_front) refuse_head(*node, "it does not leave the batch axis in front");
    derived.insert(node->outputs[0]);
  }
}

}  // namespace whyformer
