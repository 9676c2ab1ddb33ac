#include <fmt/format.h>

#include <chrono>

#include "api/evaluate_protocol.h"
#include "api/explained_input.h"
#include "base/random.h"
#include "evaluate/measure_methods.h"
#include "run/pulse_question.h"
#include "whyformer/error.h"
#include "whyformer/evaluation.h"

namespace whyformer {
namespace {

std::vector<bool> region_of(const EvaluationInput& input, const Explanation& explanation) {
  if (!input.region) return {};
  std::vector<bool> region = input.region(explanation);
  if (region.size() != explanation.units.size()) {
    throw InvalidInput(fmt::format("the known region has {} entries for {} units", region.size(),
                                   explanation.units.size()));
  }
  return region;
}

// Names that do not exist are mistakes of the request, not of an input.
void check_request(const EvaluationRequest& request) {
  jobs_of(request.explain.methods);
  require_each_once(request.explain.methods);
  if (!request.protocol.empty()) return check_protocol(request);
  if (request.metrics.empty()) throw InvalidInput("no metric was asked for");
  if (request.hidings.empty()) throw InvalidInput("no way of hiding was asked for");
  for (const std::string& name : request.metrics) metric_named(name);
}

// Another one for each input, the same wherever it stands among others: with one seed for all, a
// baseline of few random rankings would be the same few for a whole corpus.
int64_t instance_seed(const EvaluationInput& input, int64_t seed) {
  return CounterRandom(seed, content_hash(input.input), 0).seed(0);
}

void measure(const Model& model, const EvaluationInput& input, const EvaluationRequest& request,
             EvaluatedInput& result) {
  const int64_t seed = instance_seed(input, request.explain.seed);
  if (!request.protocol.empty()) return measure_by_protocol(model, input, request, seed, result);
  ExplainRequest explain = request.explain;
  explain.target = input.target;
  ExplainedInput explained(model, input.input, explain, WholeRun::kYes);
  const Explanation explanation = explained.explain(explained.targets()[0]);
  result.target = explanation.target.label;
  result.refused = explanation.refused;
  const std::vector<bool> region = region_of(input, explanation);
  const MeasuredCase one{
      .explanation = explanation,
      .run = explained.whole(),
      .rescore = [&](size_t index) { return explained.scores_again(explanation, index); },
      .region = input.region ? &region : nullptr,
      .seed = seed};
  measure_methods(request, one, result);
}

}  // namespace

EvaluatedInput evaluate(const Model& model, const EvaluationInput& input,
                        const EvaluationRequest& request) {
  check_request(request);
  const auto start = std::chrono::steady_clock::now();
  const PulseScope pulses(pulse_question(request.explain.progress));
  EvaluatedInput result{.name = input.name};
  try {
    measure(model, input, request, result);
  } catch (const Error& error) {
    result.problem = error.what();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

EvaluatedInput evaluate(const Model& model, const EvaluationEntry& entry,
                        const EvaluationRequest& request) {
  if (entry.problem.empty()) return evaluate(model, entry.input, request);
  check_request(request);
  EvaluatedInput broken{.name = entry.input.name};
  broken.problem = entry.problem;
  return broken;
}

}  // namespace whyformer
