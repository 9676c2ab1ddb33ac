#include <fmt/format.h>

#include "api/explained_input.h"
#include "api/fold_words.h"
#include "evaluate/trust.h"
#include "run/pulse_question.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// What keeps it from being measured is told; the explanation stays.
void add_trust_to(Explanation& explanation, ExplainedInput& explained,
                  const TrustRequest& request) {
  if (explained.was_stopped()) return;
  Explanation judged = explanation;
  try {
    add_trust(
        request, explained.whole(),
        [&](size_t index) { return explained.scores_again(explanation, index); }, judged);
    explanation = std::move(judged);
  } catch (const Interrupted&) {
    explanation.notes.push_back("Interrupted before trust was measured.");
  } catch (const InvalidInput& error) {
    explanation.notes.push_back(fmt::format("Trust was not measured: {}.", error.what()));
  }
}

}  // namespace

std::vector<Explanation> explain(const Model& model, const InputValue& input,
                                 const ExplainRequest& request) {
  const PulseScope pulses(pulse_question(request.progress));
  ExplainedInput explained(model, input, request, request.trust ? WholeRun::kYes : WholeRun::kNo);
  return explanations_of(explained, request);
}

std::vector<Explanation> explanations_of(ExplainedInput& explained, const ExplainRequest& request) {
  explained.look_at_context();
  std::vector<Explanation> explanations;
  for (const int64_t target : explained.targets()) {
    if (!explanations.empty() && !explained.goes_on()) break;  // keeps what there is
    try {
      explanations.push_back(explained.explain(target));
    } catch (const Interrupted&) {
      if (explanations.empty()) throw;
      break;
    }
    Explanation& explanation = explanations.back();
    if (request.trust) add_trust_to(explanation, explained, *request.trust);
    for (Attribution& result : explanation.attributions) {
      result.words = fold_words(explanation.units, result.scores,
                                {explanation.text, explanation.pair}, request.fold);
    }
  }
  return explanations;
}

}  // namespace whyformer
