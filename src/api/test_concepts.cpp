#include <fmt/format.h>

#include "readers/reader.h"
#include "studies/concepts/concept_study.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

void check_kinds(const Reader& reader, const std::string& name,
                 const std::vector<InputValue>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_kind(reader, inputs[i], fmt::format("'{}', input {}", name, i));
  }
}

}  // namespace

ConceptReport test_concepts(const Model& model, const std::vector<ExampleSet>& concepts,
                            const std::vector<ExampleSet>& random,
                            const std::vector<TargetSet>& targets, const ConceptsRequest& request) {
  if (targets.empty() || targets[0].inputs.empty()) throw InvalidInput("there are no examples");
  const Reader& reader = model.reader_of(targets[0].inputs[0]);
  for (const ExampleSet& set : concepts) check_kinds(reader, set.name, set.inputs);
  for (const ExampleSet& set : random) check_kinds(reader, set.name, set.inputs);
  for (const TargetSet& set : targets) check_kinds(reader, set.label, set.inputs);
  const ListedConcepts listed =
      reader.concepts_of({concepts, random, targets}, dtype_of(request.precision));
  ConceptReport report = study_concepts(*listed.inputs, listed.examples, request);
  const SourceFacts& facts = reader.facts();
  report.model = {facts.name, facts.architecture};
  report.unit = listed.unit;
  const std::vector<std::string> notes = listed.inputs->notes();
  if (!notes.empty()) {
    report.notes.push_back(fmt::format("{} of {} {}: {}", notes.size(), listed.inputs->count(),
                                       listed.unit, notes[0]));
  }
  report.notes.insert(report.notes.end(), facts.notes.begin(), facts.notes.end());
  return report;
}

}  // namespace whyformer
