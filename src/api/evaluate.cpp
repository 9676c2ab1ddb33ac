#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "api/evaluate_protocol.h"
#include "api/explained_input.h"
#include "base/random.h"
#include "evaluate/measure_methods.h"
#include "run/pulse_question.h"
#include "whyformer/error.h"
#include "whyformer/evaluation.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

bool needs_region(const EvaluationRequest& request) {
  return std::ranges::any_of(request.metrics, [](const std::string& name) {
    return metric_named(name).needs == MetricNeeds::kRegion;
  });
}

bool holds_all(const std::vector<bool>& region, const Explanation& explanation) {
  for (size_t unit = 0; unit < region.size(); ++unit) {
    if (!region[unit] && !explanation.units[unit].special) return false;
  }
  return true;
}

// A region that does not fit, or a mask that cannot be read, takes localisation alone from the
// input: everything else goes on.
std::optional<std::vector<bool>> region_of(const EvaluationInput& input,
                                           const EvaluationRequest& request,
                                           const Explanation& explanation,
                                           std::vector<std::string>& notes) {
  if (!needs_region(request)) return std::nullopt;
  constexpr const char* kUndefined = "{}: localisation is not defined";
  if (input.oddities) {
    for (std::string& odd : input.oddities(explanation)) notes.push_back(std::move(odd));
  }
  if (!input.region) return std::nullopt;
  try {
    std::vector<bool> region = input.region(explanation);
    if (region.size() != explanation.units.size()) {
      throw InvalidInput(fmt::format("the known region has {} entries for {} units", region.size(),
                                     explanation.units.size()));
    }
    if (std::ranges::count(region, true) == 0) {
      notes.push_back(fmt::format(kUndefined, "no unit lies in the known region"));
    } else if (holds_all(region, explanation)) {
      notes.push_back("all units lie in the known region: every ranking finds it");
    }
    return region;
  } catch (const Error& error) {
    notes.push_back(fmt::format(kUndefined, error.what()));
    return std::nullopt;
  }
}

void require_hiding(const std::string& name) {
  if (std::ranges::find(kHidingNames, name) != kHidingNames.end()) return;
  throw InvalidInput(fmt::format("there is no way of hiding '{}'; there are {}", printable(name),
                                 fmt::join(kHidingNames, ", ")));
}

void require_names_once(const std::vector<std::string>& names, const char* what) {
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) == name) continue;
    throw InvalidInput(fmt::format("the {} '{}' is asked for twice", what, *name));
  }
}

// Names that do not exist are mistakes of the request, not of an input.
void check_request(const EvaluationRequest& request) {
  jobs_of(request.explain.methods);
  require_each_once(request.explain.methods);
  if (!request.protocol.empty()) return check_protocol(request);
  if (request.metrics.empty()) throw InvalidInput("no metric was asked for");
  if (request.hidings.empty()) throw InvalidInput("no way of hiding was asked for");
  for (const std::string& name : request.metrics) metric_named(name);
  for (const std::string& name : request.hidings) require_hiding(name);
  require_names_once(request.metrics, "metric");
  require_names_once(request.hidings, "way of hiding");
}

// Before anything is explained: some ways are known to other kinds of input only.
void check_hidings(const Input& input, const std::vector<std::string>& hidings) {
  const std::vector<bool> nothing(input.units(), false);
  for (const std::string& how : hidings) input.hiding(nothing, how);
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
  check_hidings(explained.whole().input(), request.hidings);
  const Explanation explanation = explained.explain(explained.targets()[0]);
  result.target = explanation.target.label;
  result.refused = explanation.refused;
  const auto region = region_of(input, request, explanation, result.notes);
  const MeasuredCase one{
      .explanation = explanation,
      .run = explained.whole(),
      .rescore = [&](size_t index) { return explained.scores_again(explanation, index); },
      .region = region ? &*region : nullptr,
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
