#include "tests/support/plain_encoder.h"

#include <cmath>
#include <numbers>

#include "base/random.h"
#include "discovery/blocks.h"
#include "discovery/restrict_rows.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

PlainVector random_vector(const CounterRandom& random, int64_t& draw, int64_t count, double centre,
                          double spread) {
  PlainVector values(count);
  for (double& value : values) value = centre + spread * random.normal(draw++);
  return values;
}

PlainLinear random_linear(int64_t out, int64_t in, int64_t seed, int64_t number) {
  const CounterRandom random(seed, "plain-linear", number);
  int64_t draw = 0;
  PlainLinear linear;
  const double spread = 1.2 / std::sqrt(static_cast<double>(in));
  for (int64_t o = 0; o < out; ++o) {
    linear.weight.push_back(random_vector(random, draw, in, 0, spread));
  }
  linear.bias = random_vector(random, draw, out, 0, 0.3);
  return linear;
}

PlainNorm random_norm(int64_t width, int64_t seed, int64_t number) {
  const CounterRandom random(seed, "plain-norm", number);
  int64_t draw = 0;
  return {random_vector(random, draw, width, 1, 0.2), random_vector(random, draw, width, 0, 0.2),
          1e-5};
}

void add_to(PlainVector& sum, const PlainVector& more) {
  for (size_t d = 0; d < sum.size(); ++d) sum[d] += more[d];
}

PlainVector softmax_of(PlainVector scores) {
  double most = scores[0], sum = 0;
  for (const double score : scores) most = std::max(most, score);
  for (double& score : scores) sum += score = std::exp(score - most);
  for (double& score : scores) score /= sum;
  return scores;
}

// Fills maps and attended from value_input.
void attend(const PlainLayer& layer, int64_t heads, PlainStates& states) {
  const size_t n = states.input.size();
  PlainRows queries, keys;
  for (const PlainVector& x : states.value_input) {
    queries.push_back(layer.query(x));
    keys.push_back(layer.key(x));
    states.values.push_back(layer.value(x));
  }
  const size_t depth = queries[0].size() / heads;
  PlainRows context(n, PlainVector(queries[0].size(), 0.0));
  for (int64_t h = 0; h < heads; ++h) {
    states.maps.emplace_back();
    for (size_t i = 0; i < n; ++i) {
      PlainVector scores(n, 0.0);
      for (size_t j = 0; j < n; ++j) {
        for (size_t c = h * depth; c < (h + 1) * depth; ++c)
          scores[j] += queries[i][c] * keys[j][c];
        scores[j] /= std::sqrt(static_cast<double>(depth));
      }
      states.maps[h].push_back(softmax_of(scores));
      for (size_t j = 0; j < n; ++j) {
        for (size_t c = h * depth; c < (h + 1) * depth; ++c) {
          context[i][c] += states.maps[h][i][j] * states.values[j][c];
        }
      }
    }
  }
  for (const PlainVector& row : context) states.attended.push_back(layer.output(row));
}

PlainStates run_layer(const PlainEncoder& encoder, const PlainLayer& layer,
                      const PlainRows& input) {
  PlainStates states;
  states.input = input;
  for (const PlainVector& x : input) {
    states.value_input.push_back(encoder.norms_before ? layer.first(x) : x);
  }
  attend(layer, encoder.heads, states);
  for (size_t i = 0; i < input.size(); ++i) {
    PlainVector sum = states.attended[i];
    add_to(sum, input[i]);
    states.sum.push_back(sum);
    states.middle.push_back(encoder.norms_before ? sum : layer.first(sum));
    states.inner_input.push_back(encoder.norms_before ? layer.second(sum) : states.middle[i]);
    states.before_activation.push_back(layer.inner(states.inner_input[i]));
    PlainVector hidden = states.before_activation[i];
    for (double& z : hidden) z = plain_activation(encoder.activation, z);
    PlainVector second = layer.outer(hidden);
    add_to(second, states.middle[i]);
    states.second_sum.push_back(second);
    states.output.push_back(encoder.norms_before ? second : layer.second(second));
  }
  return states;
}

std::shared_ptr<const LinearWeights> weights_of(const PlainLinear& linear) {
  PlainVector flat;
  for (const PlainVector& row : linear.weight) flat.insert(flat.end(), row.begin(), row.end());
  const auto out = static_cast<int64_t>(linear.weight.size());
  const auto in = static_cast<int64_t>(linear.weight[0].size());
  Tensor bias;
  if (!linear.bias.empty()) bias = Tensor::of<double>({out}, linear.bias);
  return std::make_shared<LinearWeights>(Tensor::of<double>({out, in}, flat), bias);
}

LayerNormWeights weights_of(const PlainNorm& norm) {
  const Shape shape{static_cast<int64_t>(norm.weight.size())};
  return {Tensor::of<double>(shape, norm.weight), Tensor::of<double>(shape, norm.bias),
          norm.epsilon};
}

Value attention_of(GraphBuilder& graph, const PlainLayer& layer, int64_t heads, Value x, Value mask,
                   const std::string& name) {
  const Shape shape = graph.shape(x);
  const auto split = [&](const PlainLinear& projection, const std::string& part) {
    const Value all = linear(graph, x, weights_of(projection), name + part);
    const Shape four{shape[0], shape[1], heads, graph.shape(all)[2] / heads};
    return transpose(graph, reshape(graph, all, four, name + part), {0, 2, 1, 3}, name + part);
  };
  const Value query = split(layer.query, ".query");
  const Value keys = transpose(graph, split(layer.key, ".key"), {0, 1, 3, 2}, name + ".keys");
  const Value value = split(layer.value, ".value");
  const double scale = 1 / std::sqrt(static_cast<double>(graph.shape(query)[3]));
  const Value map = softmax(graph, matmul(graph, query, keys, name + ".scores"), mask, scale, name);
  const Value context = matmul(graph, map, value, name + ".context");
  const Shape merged{shape[0], shape[1], heads * graph.shape(value)[3]};
  const Value rows = reshape(graph, transpose(graph, context, {0, 2, 1, 3}, name + ".merge"),
                             merged, name + ".merge");
  return linear(graph, rows, weights_of(layer.output), name + ".output");
}

Value layer_of(GraphBuilder& graph, const PlainEncoder& encoder, const PlainLayer& layer, Value x,
               Value mask, const std::string& name) {
  const auto normed = [&](Value value, const PlainNorm& norm, bool here, const std::string& part) {
    return here ? layer_norm(graph, value, weights_of(norm), name + part) : value;
  };
  const bool before = encoder.norms_before;
  const Value attended = attention_of(graph, layer, encoder.heads,
                                      normed(x, layer.first, before, ".first_norm"), mask, name);
  x = normed(add(graph, attended, x, name + ".add"), layer.first, !before, ".first_norm");
  const Value inner = linear(graph, normed(x, layer.second, before, ".second_norm"),
                             weights_of(layer.inner), name + ".inner");
  const Value active = activation(graph, inner, encoder.activation, name + ".activation");
  const Value outer = linear(graph, active, weights_of(layer.outer), name + ".outer");
  // The stream first here, last above: which input is the skip must be found.
  return normed(add(graph, x, outer, name + ".second_add"), layer.second, !before, ".second_norm");
}

Value head_of(GraphBuilder& graph, const PlainEncoder& encoder, Value x) {
  const Shape shape = graph.shape(x);
  if (encoder.final_norm) x = layer_norm(graph, x, weights_of(*encoder.final_norm), "final_norm");
  if (encoder.reads_mean) {
    x = mean(graph, x, 1, "mean");
  } else {
    x = reshape(graph, slice(graph, x, 1, encoder.read_row, 1, "row"), {shape[0], shape[2]}, "row");
  }
  if (encoder.pooler) {
    x = activation(graph, linear(graph, x, weights_of(*encoder.pooler), "pooler"),
                   ActivationFunction::kTanh, "tanh");
  }
  return linear(graph, x, weights_of(encoder.classifier), "classifier");
}

}  // namespace

PlainVector PlainLinear::without_bias(const PlainVector& x) const {
  PlainVector y(weight.size(), 0.0);
  for (size_t o = 0; o < weight.size(); ++o) {
    for (size_t i = 0; i < x.size(); ++i) y[o] += weight[o][i] * x[i];
  }
  return y;
}

PlainVector PlainLinear::operator()(const PlainVector& x) const {
  PlainVector y = without_bias(x);
  if (!bias.empty()) add_to(y, bias);
  return y;
}

double PlainNorm::deviation(const PlainVector& x) const {
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  for (const double value : x) {
    variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
  }
  return std::sqrt(variance + epsilon);
}

PlainVector PlainNorm::operator()(const PlainVector& x) const {
  double mean = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  PlainVector y = x;
  for (size_t d = 0; d < x.size(); ++d) y[d] = (x[d] - mean) / deviation(x) * weight[d] + bias[d];
  return y;
}

PlainEncoder random_encoder(const PlainShape& shape, int64_t seed) {
  PlainEncoder encoder;
  encoder.heads = shape.heads;
  encoder.norms_before = shape.norms_before;
  const int64_t d = shape.width;
  for (int64_t l = 0; l < shape.layers; ++l) {
    const auto next = [&](int64_t out, int64_t in, int64_t number) {
      return random_linear(out, in, seed, 10 * l + number);
    };
    encoder.layers.push_back({next(d, d, 0), next(d, d, 1), next(d, d, 2), next(d, d, 3),
                              next(shape.inner, d, 4), next(d, shape.inner, 5),
                              random_norm(d, seed, 2 * l), random_norm(d, seed, 2 * l + 1)});
  }
  if (shape.norms_before) encoder.final_norm = random_norm(d, seed, 1000);
  if (shape.pooler) encoder.pooler = random_linear(d, d, seed, 1001);
  encoder.classifier = random_linear(shape.classes, d, seed, 1002);
  return encoder;
}

PlainRows random_rows(int64_t rows, int64_t width, int64_t seed) {
  const CounterRandom random(seed, "plain-rows", 0);
  int64_t draw = 0;
  PlainRows result;
  for (int64_t i = 0; i < rows; ++i) result.push_back(random_vector(random, draw, width, 0, 1));
  return result;
}

double plain_activation(ActivationFunction f, double x) {
  switch (f) {
    case ActivationFunction::kGelu:
      return x * 0.5 * std::erfc(-x / std::numbers::sqrt2);
    case ActivationFunction::kGeluTanh:
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case ActivationFunction::kRelu:
      return std::max(0.0, x);
    case ActivationFunction::kTanh:
      return std::tanh(x);
    case ActivationFunction::kSilu:
      return x / (1 + std::exp(-x));
    case ActivationFunction::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case ActivationFunction::kQuickGelu:
      return x / (1 + std::exp(-1.702 * x));
  }
  return x;
}

double plain_slope(ActivationFunction f, double x) {
  if (f == ActivationFunction::kRelu) return x > 0 ? 1 : 0;
  if (f == ActivationFunction::kTanh) return 1 - std::tanh(x) * std::tanh(x);
  if (f == ActivationFunction::kGelu) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * density;
  }
  const double step = 1e-5;
  return (plain_activation(f, x + step) - plain_activation(f, x - step)) / (2 * step);
}

std::vector<PlainStates> run_plain(const PlainEncoder& encoder, const PlainRows& input) {
  std::vector<PlainStates> states;
  for (const PlainLayer& layer : encoder.layers) {
    states.push_back(run_layer(encoder, layer, states.empty() ? input : states.back().output));
  }
  return states;
}

PlainVector plain_logits(const PlainEncoder& encoder, const PlainStates& last) {
  PlainVector read(last.output[0].size(), 0.0);
  const size_t n = last.output.size();
  for (size_t i = 0; i < n; ++i) {
    PlainVector row = encoder.final_norm ? (*encoder.final_norm)(last.output[i]) : last.output[i];
    const bool is_read = static_cast<int64_t>(i) == encoder.read_row;
    const double share = encoder.reads_mean ? 1 / static_cast<double>(n) : (is_read ? 1 : 0);
    for (size_t d = 0; d < row.size(); ++d) read[d] += share * row[d];
  }
  if (encoder.pooler) {
    read = (*encoder.pooler)(read);
    for (double& z : read) z = std::tanh(z);
  }
  return encoder.classifier(read);
}

Value encoder_layers(GraphBuilder& builder, const PlainEncoder& encoder, Value stream, Value mask) {
  for (size_t l = 0; l < encoder.layers.size(); ++l) {
    stream =
        layer_of(builder, encoder, encoder.layers[l], stream, mask, "layer" + std::to_string(l));
  }
  return stream;
}

EncoderGraph graph_of(const PlainEncoder& encoder, const EncoderGraphOptions& options) {
  GraphBuilder builder;
  const auto width = static_cast<int64_t>(encoder.layers[0].query.weight[0].size());
  EncoderGraph result;
  result.input =
      builder.input("embeddings", {options.batch, options.tokens, width}, DType::kFloat64);
  if (options.masked) {
    result.mask = builder.input("mask", {options.batch, 1, 1, options.tokens}, DType::kFloat64);
  }
  result.output =
      head_of(builder, encoder, encoder_layers(builder, encoder, result.input, result.mask));
  result.graph = builder.finish();
  result.found = discover(result.graph, result.output);
  if (!options.restrict_rows) return result;
  std::vector<Value> full;
  for (const AttentionSite& site : result.found.sites) full.push_back(site.attention);
  if (options.cut_queries) full.back() = find_blocks(result.graph, result.found.sites).back().input;
  Restricted restricted = restrict_rows(result.graph, result.output, full);
  for (Value* value : {&result.input, &result.mask, &result.output}) {
    if (value->valid()) *value = restricted.new_value[value->id];
  }
  result.graph = std::move(restricted.graph);
  result.found = discover(result.graph, result.output);
  return result;
}

Tensor tensor_of(const std::vector<PlainRows>& batch) {
  PlainVector flat;
  for (const PlainRows& rows : batch) {
    for (const PlainVector& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  }
  return Tensor::of<double>(
      {static_cast<int64_t>(batch.size()), static_cast<int64_t>(batch[0].size()),
       static_cast<int64_t>(batch[0][0].size())},
      flat);
}

Pass run_graph(const EncoderGraph& graph, const std::vector<PlainRows>& batch) {
  return run(graph.graph, {{graph.input, tensor_of(batch)}},
             {.keep = Keep::kEverything, .outputs = {graph.output}});
}

}  // namespace whyformer
