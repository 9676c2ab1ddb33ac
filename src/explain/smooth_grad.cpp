#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "explain/method.h"
#include "explain/token_gradients.h"

namespace whyformer {
namespace {

struct SmoothGradOptions {
  Place place = Place::kWordEmbeddings;
  std::string of = "saliency";
  int64_t samples = 25;
  double noise = 0.15;
};

Tensor with_noise(const Tensor& input, double deviation, int64_t seed, int64_t sample) {
  const CounterRandom random(seed, "smooth-grad", sample);
  std::vector<double> values = input.to_doubles();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] += deviation * random.normal(static_cast<int64_t>(i));
  }
  return Tensor::of<double>(input.shape(), std::span<const double>(values)).cast(input.dtype());
}

// Mean over noisy copies of the input of the score that a plain gradient gives; the noise is a
// fraction of the vectors' range (max - min).
Scores smooth_grad(Explained& explained, const SmoothGradOptions& options) {
  const Tensor input = explained.embeddings(options.place);
  const std::vector<double> values = input.to_doubles();
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double deviation = options.noise * (*most - *least);
  std::vector<Tensor> copies;
  for (int64_t sample = 0; sample < options.samples; ++sample) {
    copies.push_back(with_noise(input, deviation, explained.seed(), sample));
  }
  const std::vector<Explained::Slope> slopes = explained.slopes(options.place, copies);
  const auto n = static_cast<size_t>(explained.tokens());
  std::vector<double> sum(n, 0.0), squares(n, 0.0);
  for (size_t sample = 0; sample < slopes.size(); ++sample) {
    const std::vector<double> scores = options.of == "saliency"
                                           ? row_norms(slopes[sample].gradient, Norm::kL2)
                                           : row_products(copies[sample], slopes[sample].gradient);
    for (size_t i = 0; i < n; ++i) {
      sum[i] += scores[i];
      squares[i] += scores[i] * scores[i];
    }
  }
  const auto count = static_cast<double>(options.samples);
  double worst = 0;
  for (size_t i = 0; i < n; ++i) {
    sum[i] /= count;
    const double variance = std::max(0.0, squares[i] / count - sum[i] * sum[i]);
    worst = std::max(worst, std::sqrt(variance / std::max(1.0, count - 1)));
  }
  Scores result{std::move(sum)};
  result.seed = explained.seed();
  result.notes.push_back(fmt::format(
      "{} noisy copies, deviation {:.3g}; the largest standard error of a score is {:.2g}.",
      options.samples, deviation, worst));
  return result;
}

}  // namespace

const Method kSmoothGrad{
    {.name = "smooth-grad",
     .summary = "gradients averaged over noisy copies of the input",
     .paper = "Smilkov et al., 2017",
     .cost = "25 forwards and backwards",
     .class_specific = true,
     .is_signed = false,
     .options = {place_option(),
                 {"of",
                  "what is averaged; gradient-x-input gives signed scores",
                  std::string("saliency"),
                  {"saliency", "gradient-x-input"}},
                 {"samples", "noisy copies", int64_t{25}, {}, 1, 10000},
                 {"noise", "deviation as a fraction of the vectors' range", 0.15, {}, 0, 10}},
     .presets = {}},
    {.embedding_gradient = true},
    [](Explained& explained, const OptionReader& options) {
      return smooth_grad(explained, {.place = place_named(options.word("at")),
                                     .of = options.word("of"),
                                     .samples = options.whole("samples"),
                                     .noise = options.number("noise")});
    }};

}  // namespace whyformer
