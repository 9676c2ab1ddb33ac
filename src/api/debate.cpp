#include "whyformer/debate.h"

#include "studies/debate/debate_study.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

DebateModels debate_models(const Model& model, const std::vector<Model>& others,
                           const InputValue& value) {
  DebateModels models{.reader = model.reader_of(value), .others = {}, .names = {}};
  for (const Model& other : others) {
    models.others.push_back(&other.reader_of(value));
    models.names.push_back(other.name());
  }
  return models;
}

}  // namespace

DebateInput debate_input(const Model& model, const std::vector<Model>& others,
                         const DebateExample& example, int64_t number,
                         const DebateRequest& request) {
  return study_debate_input(debate_models(model, others, example.input), example, number, request);
}

DebateReport summarise(const Model& model, const std::vector<Model>& others,
                       const std::vector<DebateExample>& examples,
                       const std::vector<DebateInput>& inputs, const DebateRequest& request) {
  if (examples.empty()) throw InvalidInput("there are no inputs to debate");
  DebateReport report =
      conclude_debate(debate_models(model, others, examples[0].input), examples, inputs, request);
  report.model = model.name();
  return report;
}

}  // namespace whyformer
