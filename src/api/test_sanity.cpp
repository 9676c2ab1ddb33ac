#include "api/explained_input.h"
#include "evaluate/sanity_study.h"

namespace whyformer {

SanityReport test_sanity(const Model& model, const std::vector<InputValue>& inputs,
                         const SanityRequest& request) {
  return study_sanity(model, inputs, request,
                      [&](const InputValue& input, const ExplainRequest& explain,
                          const std::optional<Randomisation>& randomisation) {
                        ExplainedInput explained(model, input, explain, WholeRun::kNo,
                                                 randomisation);
                        return explained.explain(explained.targets()[0]);
                      });
}

}  // namespace whyformer
