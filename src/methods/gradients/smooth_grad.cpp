#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "methods/gradients/token_gradients.h"
#include "methods/method.h"

namespace whyformer {
namespace {

struct SmoothGradOptions {
  Depth depth = Depth::kInput;
  std::string of = "saliency";
  int64_t samples = 25;
  double noise = 0.15;
};

Tensor with_noise(const Tensor& input, const std::vector<double>& deviations, int64_t seed,
                  int64_t sample) {
  const CounterRandom random(seed, "smooth-grad", sample);
  std::vector<double> values = input.to_doubles();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] += deviations[i / input.dim(1)] * random.normal(static_cast<int64_t>(i));
  }
  return Tensor::of<double>(input.shape(), std::span<const double>(values)).cast(input.dtype());
}

// Means of numbers that come in rounds.
class Means {
 public:
  void add(const std::vector<double>& numbers) {
    sum_.resize(numbers.size(), 0.0);
    squares_.resize(numbers.size(), 0.0);
    for (size_t i = 0; i < numbers.size(); ++i) {
      sum_[i] += numbers[i];
      squares_[i] += numbers[i] * numbers[i];
    }
    ++rounds_;
  }
  std::vector<double> means() const {
    std::vector<double> means = sum_;
    for (double& mean : means) mean /= rounds_;
    return means;
  }
  double largest_error() const {
    double worst = 0;
    for (size_t i = 0; i < sum_.size(); ++i) {
      const double mean = sum_[i] / rounds_;
      const double variance = std::max(0.0, squares_[i] / rounds_ - mean * mean);
      worst = std::max(worst, std::sqrt(variance / std::max(1.0, rounds_ - 1)));
    }
    return worst;
  }

 private:
  std::vector<double> sum_, squares_;
  double rounds_ = 0;
};

// Mean over noisy copies of the input of the score that a plain gradient gives; the noise is a
// fraction of the vectors' range (max - min).
Scores smooth_grad(Run& run, const SmoothGradOptions& options) {
  const Tensor input = run.embeddings(options.depth);
  std::vector<double> deviation = run.input().ranges(options.depth, input);  // by unit
  for (double& one : deviation) one *= options.noise;
  const Input& parts = run.input();
  Means units, pixels;
  const int64_t samples = run.each_slope(
      options.depth, options.samples,
      [&](int64_t sample) { return with_noise(input, deviation, run.seed(), sample); },
      [&](int64_t, const Tensor& copy, const Run::Slope& slope) {
        const Scores scores =
            options.of == "saliency"
                ? folded(parts, options.depth, slope.gradient,
                         [](const Tensor& rows) { return row_norms(rows, Norm::kL2); })
                : folded(parts, options.depth, products(copy, slope.gradient), row_sums);
        units.add(scores.values);
        pixels.add(scores.pixels);
      });
  if (samples == 0) throw Interrupted();
  Scores result{units.means()};
  result.pixels = pixels.means();
  result.seed = run.seed();
  result.notes.push_back(fmt::format(
      "{} noisy copies, deviation {:.3g}; the largest standard error of a score is {:.2g}.",
      samples, *std::max_element(deviation.begin(), deviation.end()), units.largest_error()));
  if (samples < options.samples) {
    result.notes.push_back(
        fmt::format("Stopped after {} of {} noisy copies.", samples, options.samples));
  }
  if (options.of != "saliency") note_if_normalised_first(run, options.depth, result);
  return result;
}

}  // namespace

const Method kSmoothGrad{
    {.name = "smooth-grad",
     .summary = "mean gradient over noisy copies of the input",
     .paper = "Smilkov et al., 2017",
     .cost = "25 forwards and backwards",
     .class_specific = true,
     .is_signed = false,
     .options = {depth_option(),
                 {"of",
                  "quantity averaged; gradient-x-input gives signed scores",
                  std::string("saliency"),
                  {"saliency", "gradient-x-input"}},
                 {"samples", "number of noisy copies", int64_t{25}, {}, 1, 10000},
                 {"noise",
                  "standard deviation of the noise, as a fraction of the value range",
                  0.15,
                  {},
                  0,
                  10}},
     .presets = {}},
    {.embedding_gradient = true},
    [](Run& run, const OptionReader& options) {
      return smooth_grad(run, {.depth = depth_named(run.input(), options.word("at")),
                               .of = options.word("of"),
                               .samples = options.whole("samples"),
                               .noise = options.number("noise")});
    }};

}  // namespace whyformer
