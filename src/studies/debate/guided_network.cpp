#include "studies/debate/guided_network.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/pulse.h"
#include "base/random.h"
#include "kernels/gemm.h"
#include "studies/debate/adversarial_search.h"

namespace whyformer {
namespace {

std::vector<double> softmax_of_logits(std::vector<double> logits) {
  return probabilities_of(std::move(logits), Problem::kSingleLabel);
}

std::vector<float> to_floats(const double* numbers, int64_t count) {
  return std::vector<float>(numbers, numbers + count);
}

std::vector<int64_t> shuffled_order(int64_t count, int64_t seed, int64_t epoch) {
  const CounterRandom random(seed, "debate/diagnostic/order", epoch);
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t i = count - 1; i > 0; --i) {
    const auto j = static_cast<int64_t>(random.uniform(i) * static_cast<double>(i + 1));
    std::swap(order[i], order[std::min(i, j)]);
  }
  return order;
}

}  // namespace

struct GuidedNetwork::Forward {
  int64_t tokens = 0;
  std::vector<float> hidden;      // [tokens, width]
  std::vector<float> scored;      // tanh(A h + a), [tokens, score width]; where weights are learned
  std::vector<double> weights;    // [tokens]
  std::vector<double> context;    // [width]
  std::vector<double> to_logits;  // ∂loss/∂logits, once the label is known
  double loss = 0;
};

GuidedNetwork::GuidedNetwork(const GuidedOptions& options, int64_t seed)
    : options_(options), score_width_(options.learns_weights ? options.width / 2 : 0) {
  const int64_t width = options.width;
  b_ = width * options.depth;
  u_ = b_ + width;
  c_ = u_ + options.classes * width;
  a_matrix_ = c_ + options.classes;
  a_ = a_matrix_ + score_width_ * width;
  v_ = a_ + score_width_;
  parameters_.resize(v_ + score_width_);
  const CounterRandom random(seed, "debate/diagnostic/start", 0);
  // PyTorch's own start of a Linear: uniform within 1/√inputs.
  for (int64_t i = 0; i < static_cast<int64_t>(parameters_.size()); ++i) {
    const int64_t inputs = i < u_ ? options.depth : i < v_ ? width : score_width_;
    parameters_[i] = (2 * random.uniform(i) - 1) / std::sqrt(static_cast<double>(inputs));
  }
}

namespace {

// tanh(rows · matrixᵀ + bias).
std::vector<float> tanh_layer(const std::vector<float>& rows, int64_t count, int64_t depth,
                              const double* matrix, const double* bias, int64_t width) {
  const std::vector<float> weights = to_floats(matrix, width * depth);
  std::vector<float> result(count * width);
  multiply_here({rows.data(), count, depth, depth, 1}, {weights.data(), depth, width, 1, depth},
                {result.data(), count, width, width, 1});
  for (int64_t i = 0; i < count * width; ++i)
    result[i] = std::tanh(result[i] + static_cast<float>(bias[i % width]));
  return result;
}

}  // namespace

GuidedNetwork::Forward GuidedNetwork::forward(const GuidedExample& example,
                                              const std::vector<double>& weights) const {
  const int64_t width = options_.width;
  Forward at;
  at.tokens = static_cast<int64_t>(example.vectors.size()) / options_.depth;
  at.hidden = tanh_layer(example.vectors, at.tokens, options_.depth, parameters_.data(),
                         parameters_.data() + b_, width);
  at.weights = weights;
  if (options_.learns_weights) {
    at.scored = tanh_layer(at.hidden, at.tokens, width, parameters_.data() + a_matrix_,
                           parameters_.data() + a_, score_width_);
    std::vector<double> scores(at.tokens, 0.0);
    for (int64_t i = 0; i < at.tokens * score_width_; ++i)
      scores[i / score_width_] += parameters_[v_ + i % score_width_] * at.scored[i];
    at.weights = softmax_of_logits(std::move(scores));
  }
  at.context.assign(width, 0.0);
  for (int64_t i = 0; i < at.tokens * width; ++i)
    at.context[i % width] += at.weights[i / width] * at.hidden[i];
  return at;
}

std::vector<double> GuidedNetwork::logits(const GuidedExample& example,
                                          const std::vector<double>& weights) const {
  const Forward at = forward(example, weights);
  std::vector<double> logits(parameters_.begin() + c_, parameters_.begin() + a_matrix_);
  for (int64_t i = 0; i < options_.classes * options_.width; ++i)
    logits[i / options_.width] += parameters_[u_ + i] * at.context[i % options_.width];
  return logits;
}

GuidedNetwork::Loss GuidedNetwork::loss(
    const std::vector<const GuidedExample*>& batch,
    const std::vector<const std::vector<double>*>& weights) const {
  Loss result{.gradient = std::vector<double>(parameters_.size(), 0.0)};
  const double share = 1 / static_cast<double>(batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    Forward at = forward(*batch[i], *weights[i]);
    std::vector<double> logits(parameters_.begin() + c_, parameters_.begin() + a_matrix_);
    for (int64_t k = 0; k < options_.classes * options_.width; ++k)
      logits[k / options_.width] += parameters_[u_ + k] * at.context[k % options_.width];
    at.to_logits = softmax_of_logits(std::move(logits));
    result.value -= share * std::log(std::max(at.to_logits[batch[i]->label], 1e-300));
    at.to_logits[batch[i]->label] -= 1;
    add_gradient(*batch[i], at, share, result.gradient);
  }
  return result;
}

void GuidedNetwork::add_gradient(const GuidedExample& example, const Forward& at, double factor,
                                 std::vector<double>& gradient) const {
  const int64_t width = options_.width;
  std::vector<double> to_context(width, 0.0);
  for (int64_t k = 0; k < options_.classes * width; ++k) {
    const double slope = factor * at.to_logits[k / width];
    gradient[u_ + k] += slope * at.context[k % width];
    to_context[k % width] += slope * parameters_[u_ + k];
  }
  for (int64_t k = 0; k < options_.classes; ++k) gradient[c_ + k] += factor * at.to_logits[k];
  std::vector<double> to_hidden(at.tokens * width), to_weights(at.tokens, 0.0);
  for (int64_t i = 0; i < at.tokens * width; ++i) {
    to_hidden[i] = at.weights[i / width] * to_context[i % width];
    to_weights[i / width] += at.hidden[i] * to_context[i % width];
  }
  if (options_.learns_weights) add_weight_gradient(at, to_weights, to_hidden, gradient);
  std::vector<float> before(at.tokens * width);
  for (int64_t i = 0; i < at.tokens * width; ++i) {
    const double slope = to_hidden[i] * (1 - at.hidden[i] * at.hidden[i]);
    before[i] = static_cast<float>(slope);
    gradient[b_ + i % width] += slope;
  }
  const int64_t depth = options_.depth;
  std::vector<float> to_matrix(width * depth);
  multiply_here({before.data(), width, at.tokens, 1, width},
                {example.vectors.data(), at.tokens, depth, depth, 1},
                {to_matrix.data(), width, depth, depth, 1});
  for (int64_t i = 0; i < width * depth; ++i) gradient[i] += to_matrix[i];
}

void GuidedNetwork::add_weight_gradient(const Forward& at, const std::vector<double>& to_weights,
                                        std::vector<double>& to_hidden,
                                        std::vector<double>& gradient) const {
  const int64_t width = options_.width;
  double inner = 0;
  for (int64_t t = 0; t < at.tokens; ++t) inner += at.weights[t] * to_weights[t];
  for (int64_t t = 0; t < at.tokens; ++t) {
    const double to_score = at.weights[t] * (to_weights[t] - inner);
    for (int64_t s = 0; s < score_width_; ++s) {
      const double scored = at.scored[t * score_width_ + s];
      gradient[v_ + s] += to_score * scored;
      const double slope = to_score * parameters_[v_ + s] * (1 - scored * scored);
      gradient[a_ + s] += slope;
      for (int64_t k = 0; k < width; ++k) {
        gradient[a_matrix_ + s * width + k] += slope * at.hidden[t * width + k];
        to_hidden[t * width + k] += slope * parameters_[a_matrix_ + s * width + k];
      }
    }
  }
}

namespace {

GuidedNetwork::Loss loss_on(const GuidedNetwork& network, const GuidedData& data,
                            const std::vector<int64_t>& order, int64_t first, int64_t count) {
  std::vector<const GuidedExample*> examples;
  std::vector<const std::vector<double>*> weights;
  for (int64_t i = first; i < first + count; ++i) {
    examples.push_back(&data.examples[order[i]]);
    weights.push_back(&data.weights[order[i]]);
  }
  return network.loss(examples, weights);
}

double cross_entropy(const GuidedNetwork& network, const GuidedData& data) {
  double sum = 0;
  for (size_t i = 0; i < data.examples.size(); ++i) {
    const std::vector<double> p =
        softmax_of_logits(network.logits(data.examples[i], data.weights[i]));
    sum -= std::log(std::max(p[data.examples[i].label], 1e-300));
  }
  return sum;
}

}  // namespace

GuidedNetwork train_guided(const GuidedData& train, const GuidedData& dev,
                           const GuidedOptions& options, int64_t seed) {
  GuidedNetwork network(options, seed);
  GuidedNetwork best = network;
  double lowest = INFINITY;
  AmsGrad optimiser(network.parameters().size(), options.learning_rate, options.weight_decay);
  const auto count = static_cast<int64_t>(train.examples.size());
  for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    const std::vector<int64_t> order = shuffled_order(count, seed, epoch);
    for (int64_t first = 0; first < count; first += options.batch) {
      pulse();
      const int64_t some = std::min(options.batch, count - first);
      optimiser.step(network.parameters(), loss_on(network, train, order, first, some).gradient);
    }
    const double on_dev = cross_entropy(network, dev);
    if (on_dev >= lowest) continue;
    lowest = on_dev;
    best = network;
  }
  return best;
}

GuidedScore score_guided(const GuidedNetwork& network, const GuidedData& data, int64_t classes) {
  std::vector<double> right(classes, 0), said(classes, 0), true_count(classes, 0);
  for (size_t i = 0; i < data.examples.size(); ++i) {
    const std::vector<double> logits = network.logits(data.examples[i], data.weights[i]);
    const int64_t answer = std::ranges::max_element(logits) - logits.begin();
    const int64_t label = data.examples[i].label;
    ++said[answer];
    ++true_count[label];
    right[label] += answer == label;
  }
  GuidedScore score;
  double present = 0;
  for (int64_t k = 0; k < classes; ++k) {
    score.accuracy += right[k] / static_cast<double>(data.examples.size());
    if (said[k] + true_count[k] == 0) continue;
    ++present;
    score.f1 += 2 * right[k] / (said[k] + true_count[k]);
  }
  score.f1 /= present;
  return score;
}

}  // namespace whyformer
