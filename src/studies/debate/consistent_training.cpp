#include "studies/debate/consistent_training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "discovery/site_tokens.h"
#include "graph/walk_back.h"
#include "kernels/gemm.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr double kRounding = 1e-6;
constexpr double kSmallestWeight = 1e-12;  // of the base, so that no logarithm is infinite

std::vector<float> floats_of(const Tensor& tensor) {
  const std::vector<double> numbers = tensor.to_doubles();
  return {numbers.begin(), numbers.end()};
}

Tensor tensor_of_floats(const Shape& shape, const std::vector<float>& numbers) {
  return Tensor::of<float>(shape, std::span<const float>(numbers));
}

// The Linear whose output comes to the value with nothing but constants and moves between.
int linear_before(const Graph& graph, Value value, const std::string& what) {
  for (int node = graph.producer(value); node >= 0; node = graph.producer(value)) {
    const Node& maker = graph.nodes()[node];
    if (is_a<ops::Linear>(*maker.op)) return node;
    std::vector<Value> varying;
    for (const Value input : maker.inputs) {
      if (graph.varies(input)) varying.push_back(input);
    }
    if (varying.size() != 1) break;
    value = varying[0];
  }
  throw InvalidInput("the projection that makes " + what + " was not recognised");
}

// The value nearest to the projection from which nothing else than `value` is made.
Value own_value_before(const Graph& graph, Value value, int projection) {
  while (graph.producer(value) != projection) {
    const Node& maker = graph.nodes()[graph.producer(value)];
    const Value before =
        *std::ranges::find_if(maker.inputs, [&](Value input) { return graph.varies(input); });
    if (maker.outputs.size() > 1 || graph.users(before).size() > 1) break;
    value = before;
  }
  return value;
}

const LinearWeights& weights_of(const Graph& graph, int node) {
  return *linear_weights(*graph.nodes()[node].op);
}

// The numbers of the part are those of the projection, elsewhere: numbered ones show from where.
ProjectedPart projected_part(const ModelGraph& model, const Feeds& inputs, const Pass& pass,
                             Value value, const std::string& what) {
  const Graph& graph = model.graph;
  ProjectedPart part{.projection = linear_before(graph, value, what)};
  const Value made = graph.nodes()[part.projection].outputs[0];
  part.value = own_value_before(graph, value, part.projection);
  part.inputs = floats_of(pass[graph.nodes()[part.projection].inputs[0]]);
  const int64_t width = graph.shape(made).back();
  Feeds feeds = inputs;
  std::vector<float> numbers(element_count(graph.shape(made)));
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  feeds[made] = tensor_of_floats(graph.shape(made), numbers);
  const std::vector<float> places =
      floats_of(run(graph, feeds, {.outputs = {part.value}})[part.value]);
  const std::vector<float> own = floats_of(pass[made]), told = floats_of(pass[part.value]);
  std::vector<int64_t> place_of(width, -1);
  for (size_t i = 0; i < places.size(); ++i) {
    const auto from = static_cast<int64_t>(places[i]);
    const bool moved = from >= 0 && from < static_cast<int64_t>(own.size()) && told[i] == own[from];
    if (!moved) throw InvalidInput("the projection that makes " + what + " was not recognised");
    part.from.push_back(from);
    place_of[from % width] = 0;
  }
  for (int64_t feature = 0; feature < width; ++feature) {
    if (place_of[feature] < 0) continue;
    place_of[feature] = static_cast<int64_t>(part.features.size());
    part.features.push_back(feature);
  }
  const auto kept = static_cast<int64_t>(part.features.size());
  for (int64_t& from : part.from) from = from / width * kept + place_of[from % width];
  part.numbers = static_cast<int64_t>(own.size()) / width * kept;
  return part;
}

// The part, of the features that a trained projection gives.
Tensor part_of(const Graph& graph, const ProjectedPart& part, const std::vector<float>& made) {
  std::vector<float> numbers;
  for (const int64_t from : part.from) numbers.push_back(made[from]);
  return tensor_of_floats(graph.shape(part.value), numbers);
}

double kl_divergence(std::span<const double> from, std::span<const double> base) {
  double sum = 0;
  for (size_t k = 0; k < from.size(); ++k) {
    if (from[k] > 0) sum += from[k] * std::log(from[k] / std::max(base[k], kSmallestWeight));
  }
  return sum;
}

std::vector<std::vector<double>> row_of_heads(const Tensor& map, int64_t row) {
  std::vector<std::vector<double>> rows;
  for (int64_t head = 0; head < map.dim(1); ++head)
    rows.push_back(map.select(0, 0).select(0, head).select(0, row).to_doubles());
  return rows;
}

struct ExamplePass {
  Pass pass;
  ConsistentState state;
  std::vector<float> pooled = {};
};

ExamplePass pass_of(const ConsistentExample& example, const TrainedParts& parts, Problem problem,
                    Keep keep) {
  const Graph& graph = example.graph->graph;
  Feeds feeds = example.feeds;
  feeds[example.query.value] =
      part_of(graph, example.query, parts.query.apply(example.query.inputs));
  feeds[example.key.value] = part_of(graph, example.key, parts.key.apply(example.key.inputs));
  ExamplePass result;
  result.pass = run(graph, feeds, {keep, {example.pooled, example.map}});
  result.pooled = floats_of(result.pass[example.pooled]);
  const std::vector<float> logits = parts.classifier.apply(result.pooled);
  result.state = {probabilities_of({logits.begin(), logits.end()}, problem),
                  row_of_heads(result.pass[example.map], example.row)};
  return result;
}

std::vector<int64_t> all_features(int64_t count) {
  std::vector<int64_t> features(count);
  std::iota(features.begin(), features.end(), 0);
  return features;
}

// Gradients of one input at what is trained.
struct ExampleGradient {
  double loss = 0;
  std::vector<float> query = {}, key = {};  // at the outputs of the projections
  std::vector<double> logits = {};
  std::vector<float> pooled = {};
};

Tensor attention_seed(const ConsistentExample& example, const ConsistentState& state,
                      double factor) {
  const Shape shape = example.graph->graph.shape(example.map);
  std::vector<float> seed(element_count(shape), 0.0f);
  const auto heads = static_cast<double>(state.attention.size());
  for (size_t head = 0; head < state.attention.size(); ++head) {
    const int64_t first = (static_cast<int64_t>(head) * shape[2] + example.row) * shape[3];
    for (size_t key = 0; key < state.attention[head].size(); ++key) {
      const double weight = state.attention[head][key];
      if (weight <= 0) continue;
      const double base = std::max(example.attention[head][key], kSmallestWeight);
      seed[first + static_cast<int64_t>(key)] =
          static_cast<float>(factor / heads * (std::log(weight / base) + 1));
    }
  }
  return tensor_of_floats(shape, seed);
}

// A gradient at the part, added where its numbers come from.
void add_gradient(const ProjectedPart& part, const Tensor& more, std::vector<float>& sum) {
  const std::vector<float> numbers = floats_of(more);
  sum.resize(part.numbers, 0.0f);
  for (size_t i = 0; i < numbers.size(); ++i) sum[part.from[i]] += numbers[i];
}

ExampleGradient gradient_of(const ConsistentExample& example, const TrainedParts& parts,
                            const AnswerDistance& distance, double lambda) {
  ExamplePass at = pass_of(example, parts, distance.problem, Keep::kGradients);
  ExampleGradient result{.pooled = at.pooled};
  result.loss = distance(at.state.probabilities, example.probabilities);
  for (size_t head = 0; head < at.state.attention.size(); ++head) {
    result.loss -= lambda / static_cast<double>(at.state.attention.size()) *
                   kl_divergence(at.state.attention[head], example.attention[head]);
  }
  // Equal answers but for rounding: a sign of the difference would only be noise.
  result.logits = distance(at.state.probabilities, example.probabilities) < kRounding
                      ? std::vector<double>(at.state.probabilities.size(), 0.0)
                      : distance.gradient(at.state.probabilities, example.probabilities);
  const Graph& graph = example.graph->graph;
  const TrainedLinear& classifier = parts.classifier;
  std::vector<float> to_pooled(classifier.in, 0.0f);
  for (int64_t k = 0; k < classifier.out; ++k) {
    for (int64_t i = 0; i < classifier.in; ++i)
      to_pooled[i] +=
          static_cast<float>(result.logits[k] * classifier.numbers[k * classifier.in + i]);
  }
  const std::vector<Value> wanted{example.query.value, example.key.value};
  const auto add_walk = [&](Value from, const Tensor& seed) {
    const auto found = walk_back(graph, at.pass, from, seed, gradient_rule(), wanted);
    add_gradient(example.query, found.at(example.query.value), result.query);
    add_gradient(example.key, found.at(example.key.value), result.key);
  };
  add_walk(example.pooled, tensor_of_floats(graph.shape(example.pooled), to_pooled));
  if (lambda != 0) add_walk(example.map, attention_seed(example, at.state, -lambda));
  return result;
}

// dW += dyᵀ·x, db += Σ dy.
void add_weight_gradient(const TrainedLinear& linear, const std::vector<float>& to_outputs,
                         const std::vector<float>& inputs, double factor,
                         std::vector<double>& gradient) {
  const int64_t rows = static_cast<int64_t>(inputs.size()) / linear.in;
  std::vector<float> matrix(linear.out * linear.in);
  multiply_here({to_outputs.data(), linear.out, rows, 1, linear.out},
                {inputs.data(), rows, linear.in, linear.in, 1},
                {matrix.data(), linear.out, linear.in, linear.in, 1});
  for (size_t i = 0; i < matrix.size(); ++i) gradient[i] += factor * matrix[i];
  for (int64_t i = 0; i < rows * linear.out; ++i)
    gradient[linear.in * linear.out + i % linear.out] += factor * to_outputs[i];
}

}  // namespace

TrainedLinear::TrainedLinear(const LinearWeights& weights)
    : TrainedLinear(weights, all_features(weights.out_features())) {}

TrainedLinear::TrainedLinear(const LinearWeights& weights, const std::vector<int64_t>& features)
    : in(weights.in_features()), out(static_cast<int64_t>(features.size())) {
  for (const int64_t feature : features) {
    const std::vector<double> row = weights.weight().select(0, feature).to_doubles();
    numbers.insert(numbers.end(), row.begin(), row.end());
  }
  const Tensor& bias = weights.bias();
  for (const int64_t feature : features)
    numbers.push_back(bias.defined() ? bias.slice(0, feature, 1).to_doubles()[0] : 0.0);
}

std::vector<float> TrainedLinear::apply(const std::vector<float>& rows) const {
  const std::vector<float> weights(numbers.begin(), numbers.end());
  const int64_t count = static_cast<int64_t>(rows.size()) / in;
  std::vector<float> result(count * out);
  multiply_here({rows.data(), count, in, in, 1}, {weights.data(), in, out, 1, in},
                {result.data(), count, out, out, 1});
  for (int64_t i = 0; i < count * out; ++i) result[i] += weights[in * out + i % out];
  return result;
}

ConsistentExample consistent_example(const DebateRun& debate) {
  const Run& run = debate.run();
  const FedGraph own = run.input().copies(1);
  const Graph& graph = own.graph->graph;
  const int layer = debate.last_layer();
  const TailMap map = tail_map(*own.graph, layer);
  const auto [queries, keys] = score_operands(graph, own.graph->found.sites[layer].attention);
  const int classifier = linear_before(graph, own.graph->output, "the answers");
  if (graph.producer(own.graph->output) != classifier)
    throw InvalidInput("the classifier was not recognised: the answers are no Linear's outputs");
  ConsistentExample example{.graph = own.graph, .feeds = own.feeds};
  const auto part = [&](Value value, const std::string& what) {
    return projected_part(*own.graph, own.feeds, run.pass(), value, what);
  };
  example.query = part(queries, "the queries of the last layer");
  example.key = part(keys, "the keys of the last layer");
  example.map = map.value;
  example.row = debate.read_out_row() - map.first_row;
  example.pooled = graph.nodes()[classifier].inputs[0];
  for (const Value read :
       values_behind(graph, {example.query.value, example.key.value}, example.pooled).read)
    example.feeds[read] = run.pass()[read];
  example.probabilities = debate.probabilities();
  example.attention = row_of_heads(run.pass()[example.map], example.row);
  example.compared = debate.compared();
  return example;
}

TrainedParts trained_parts(const ConsistentExample& example) {
  const ModelGraph& model = *example.graph;
  const auto part = [&](const ProjectedPart& one) {
    return TrainedLinear(weights_of(model.graph, one.projection), one.features);
  };
  return {part(example.query), part(example.key),
          TrainedLinear(weights_of(model.graph, model.graph.producer(model.output)))};
}

ConsistentState state_of(const ConsistentExample& example, const TrainedParts& parts,
                         Problem problem) {
  return pass_of(example, parts, problem, Keep::kOutputs).state;
}

ConsistentLoss consistent_loss(const std::vector<const ConsistentExample*>& batch,
                               const TrainedParts& parts, const AnswerDistance& distance,
                               double lambda) {
  std::vector<ExampleGradient> found(batch.size());
  parallel_for(static_cast<int64_t>(batch.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      found[i] = gradient_of(*batch[i], parts, distance, lambda);
  });
  ConsistentLoss loss{.query = std::vector<double>(parts.query.numbers.size(), 0.0),
                      .key = std::vector<double>(parts.key.numbers.size(), 0.0),
                      .classifier = std::vector<double>(parts.classifier.numbers.size(), 0.0)};
  const double share = 1 / static_cast<double>(batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    loss.value += share * found[i].loss;
    add_weight_gradient(parts.query, found[i].query, batch[i]->query.inputs, share, loss.query);
    add_weight_gradient(parts.key, found[i].key, batch[i]->key.inputs, share, loss.key);
    add_weight_gradient(parts.classifier, {found[i].logits.begin(), found[i].logits.end()},
                        found[i].pooled, share, loss.classifier);
  }
  return loss;
}

}  // namespace whyformer
