// Causal tracing: noise corrupts the run, and single values of the clean one repair it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "studies/patching/patch_study.h"
#include "studies/patching/sweep.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

void check(const NoiseRequest& noise, int64_t units) {
  if (noise.tokens.empty()) throw InvalidInput("there are no tokens to put noise on");
  for (const int64_t token : noise.tokens) {
    if (token >= 0 && token < units) continue;
    throw InvalidInput(
        fmt::format("there is no token {}: they are numbered from 0 to {}", token, units - 1));
  }
  if (noise.draws < 1) throw InvalidInput("noise needs one draw or more");
  if (noise.window < 1) throw InvalidInput("a window has one layer or more");
  if (!(noise.scale > 0)) throw InvalidInput("noise needs a scale above 0");
}

// A token that is named twice has its noise once.
NoiseRequest with_each_token_once(NoiseRequest noise) {
  std::ranges::sort(noise.tokens);
  noise.tokens.erase(std::ranges::unique(noise.tokens).begin(), noise.tokens.end());
  return noise;
}

double deviation(const std::vector<double>& numbers) {
  const auto count = static_cast<double>(numbers.size());
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  double squares = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return std::sqrt(squares / count);
}

Tensor with_noise(const Tensor& vectors, const NoiseRequest& noise, double scale, int64_t seed,
                  int64_t draw) {
  Tensor noisy = vectors.copy();
  const int64_t width = vectors.dim(-1);
  for (const int64_t token : noise.tokens) {
    const CounterRandom random(seed, fmt::format("causal-tracing/token {}", token), draw);
    Tensor row = noisy.select(0, 0).select(0, token);
    std::vector<double> numbers = row.to_doubles();
    for (int64_t i = 0; i < width; ++i) numbers[i] += scale * random.normal(i);
    row.copy_from(Tensor::of<double>({width}, std::span<const double>(numbers)).cast(row.dtype()));
  }
  return noisy;
}

// Means and standard errors of changes over draws, cell by cell.
class DrawSums {
 public:
  void add(const EffectGrid& grid) {
    if (draws_.empty()) grid_ = grid;
    draws_.push_back(grid.changes);
  }

  EffectGrid finish() const {
    EffectGrid grid = grid_;
    const auto count = static_cast<double>(draws_.size());
    grid.errors.assign(grid.changes.size(), std::nan(""));
    for (size_t cell = 0; cell < grid.changes.size(); ++cell) {
      double sum = 0, squares = 0;
      for (const std::vector<double>& draw : draws_) sum += draw[cell];
      const double mean = sum / count;
      for (const std::vector<double>& draw : draws_)
        squares += (draw[cell] - mean) * (draw[cell] - mean);
      grid.changes[cell] = mean;
      // One draw does not tell how much draws differ.
      if (draws_.size() > 1) grid.errors[cell] = std::sqrt(squares / (count * (count - 1)));
    }
    return grid;
  }

 private:
  EffectGrid grid_;
  std::vector<std::vector<double>> draws_;
};

// The model's own table where it is known, else the vectors of this input.
double vector_deviation(const PatchedRun& run, const std::string& name,
                        std::vector<std::string>& notes) {
  if (const std::optional<Tensor> table = run.vector_table()) return deviation(table->to_doubles());
  notes.emplace_back(
      "The model's table of vectors was not found: noise is scaled by the deviation of this "
      "input's own vectors.");
  return deviation(run.value(name).to_doubles());
}

std::string draws_told(int64_t made, int64_t asked) {
  const std::string draws = asked == 1 ? "1 draw" : fmt::format("{} draws", asked);
  return made == asked ? draws : fmt::format("{} of {}", made, draws);
}

}  // namespace

PatchReport study_causes(const Reader& reader, const InputValue& clean, const NoiseRequest& asked,
                         const PatchRequest& request) {
  PatchStudy study(reader, clean, request, "causal tracing");
  check(asked, static_cast<int64_t>(study.units().size()));
  const NoiseRequest noise = with_each_token_once(asked);
  if (request.kinds.empty()) throw InvalidInput("there is no kind of values to restore");
  const std::string name = study.clean().names().find("words") != nullptr ? "words" : "embeddings";
  const double scale = noise.scale * vector_deviation(study.clean(), name, study.report.notes);
  AlignedUnits aligned(study.units().size());
  std::iota(aligned.begin(), aligned.end(), 0);
  // All draws take what the first one takes.
  bool expected = false;
  const SweepWork work{study.metric(), aligned, study.counter(), [&](double forwards) {
                         if (!expected) study.expect(static_cast<double>(noise.draws) * forwards);
                         expected = true;
                       }};
  const SweepSettings settings{.preview = false, .window = noise.window};
  std::vector<DrawSums> sums;
  std::vector<double> gaps;
  double corrupted_sum = 0;
  try {
    for (int64_t draw = 0; draw < noise.draws && !study.report.stopped_early; ++draw) {
      const auto noisy = study.with_entering(
          {{name, with_noise(study.clean().value(name), noise, scale, request.seed, draw)}});
      const Swept swept = sweep(request.kinds, study.clean(), *noisy, settings, work);
      // Whole draws count; of the first one, what there is of it.
      if (swept.stopped && (draw > 0 || swept.grids.empty())) throw Interrupted();
      sums.resize(swept.grids.size());
      for (size_t i = 0; i < sums.size(); ++i) sums[i].add(swept.grids[i]);
      const double corrupted = study.metric().value(noisy->outputs());
      gaps.push_back(study.report.clean_value - corrupted);
      corrupted_sum += corrupted;
      if (swept.stopped) study.stop();
    }
  } catch (const Interrupted&) {
    if (gaps.empty()) throw;
    study.stop();
  }
  study.report.corrupted_value = corrupted_sum / static_cast<double>(gaps.size());
  for (const DrawSums& sum : sums) {
    EffectGrid grid = sum.finish();
    study.report.effects_are_shares =
        add_effects(study.report.clean_value, *study.report.corrupted_value, grid);
    study.report.grids.push_back(std::move(grid));
  }
  study.report.notes.push_back(
      fmt::format("Noise of deviation {:.4g} ({:g} times that of the vectors) on {} of {} tokens, "
                  "{}.",
                  scale, noise.scale, noise.tokens.size(), study.units().size(),
                  draws_told(static_cast<int64_t>(gaps.size()), noise.draws)));
  return study.finish();
}

}  // namespace whyformer
