#include "evaluate/protocols/measure_protocol.h"

#include "evaluate/drawn_scores.h"
#include "evaluate/magnitudes.h"

namespace whyformer {
namespace {

ScoredInput negated_scores(ScoredInput scored) {
  for (double& score : scored.scores) score = -score;
  for (double& score : scored.pixels) score = -score;
  return scored;
}

std::vector<ScoredInput> scored_by_all(const ProtocolCase& one, const EvaluationRequest& request) {
  std::vector<ScoredInput> all;
  for (const Attribution& attribution : one.explanation.attributions) {
    all.push_back({attribution.scores, {attribution.pixels.begin(), attribution.pixels.end()}});
  }
  const size_t reversed = request.reversed_rankings ? all.size() : 0;
  for (size_t i = 0; i < reversed; ++i) all.push_back(negated_scores(all[i]));
  for (int64_t i = 0; i < request.random_rankings; ++i) {
    all.push_back({drawn_scores(one.run.input().units(), one.seed, i), {}});
  }
  return all;
}

// Scores that are not finite have no values.
std::vector<MeasuredRow> measured_where_finite(const ProtocolPart& part, const ProtocolCase& one,
                                               const std::vector<ScoredInput>& scored) {
  std::vector<ScoredInput> finite;
  std::vector<size_t> places;
  for (size_t i = 0; i < scored.size(); ++i) {
    if (!all_finite(scored[i].scores) || !all_finite(scored[i].pixels)) continue;
    finite.push_back(scored[i]);
    places.push_back(i);
  }
  std::vector<MeasuredRow> all(scored.size(), MeasuredRow(part.columns.size()));
  const auto values = part.measure(one, finite);
  for (size_t i = 0; i < places.size(); ++i) all[places[i]] = values[i];
  return all;
}

void add_methods(const ProtocolCase& one, int64_t random_rankings, EvaluatedInput& result) {
  for (const Attribution& attribution : one.explanation.attributions) {
    result.methods.push_back(
        {.method = attribution.method, .scores = attribution.scores, .cost = attribution.cost});
  }
  if (random_rankings > 0) result.methods.push_back({.method = kRandomBaseline});
}

}  // namespace

void measure_protocol(const ProtocolPart& part, const ProtocolCase& one,
                      const EvaluationRequest& request, EvaluatedInput& result) {
  if (result.methods.empty()) add_methods(one, request.random_rankings, result);
  const auto before = one.run.spent().forwards;
  const std::vector<ScoredInput> scored = scored_by_all(one, request);
  const auto values = measured_where_finite(part, one, scored);
  const size_t methods = one.explanation.attributions.size();
  const size_t reversed = request.reversed_rankings ? methods : 0;
  for (size_t i = 0; i < methods; ++i) {
    MeasuredMethod& own = result.methods[i];
    append_measured(values[i], own.values, own.ratios);
    if (i < reversed) append_measured(values[methods + i], own.reversed, own.reversed_ratios);
  }
  if (request.random_rankings > 0) {
    MeasuredMethod& random = result.methods.back();
    append_measured(mean_of_rows(std::span(values).subspan(methods + reversed)), random.values,
                    random.ratios);
    if (reversed > 0) {
      random.reversed = random.values;
      random.reversed_ratios = random.ratios;
    }
  }
  result.evaluations += one.run.spent().forwards - before;
}

}  // namespace whyformer
