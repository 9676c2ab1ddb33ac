#include <fmt/format.h>

#include <charconv>

#include "api/prepare.h"
#include "readers/array_file.h"
#include "readers/array_reader.h"
#include "run/labels.h"
#include "studies/concepts/array_inputs.h"
#include "studies/concepts/concept_study.h"
#include "studies/concepts/sample_inputs.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// All examples in a row, and which of them belong to what.
class ExampleList {
 public:
  ExampleRange add(const std::string& name, const std::vector<InputValue>& inputs) {
    const ExampleRange range{name, static_cast<int64_t>(all.size()),
                             static_cast<int64_t>(inputs.size())};
    all.insert(all.end(), inputs.begin(), inputs.end());
    return range;
  }

  std::vector<InputValue> all;
};

// The same of arrays, each of which holds several.
class ArrayList {
 public:
  ExampleRange add(const std::string& name, const std::vector<InputValue>& inputs) {
    const int64_t first = count;
    for (const InputValue& input : inputs) {
      names.push_back(name);
      parts.push_back(tensors_of(std::get<ArrayViews>(input)));
      for (auto& [input_name, array] : parts.back()) {
        if (array.dtype() == DType::kFloat64) {
          array = array.cast(DType::kFloat32);  // as all of the study is
        }
      }
      count += example_count(parts.back(), name);
    }
    return {name, first, count - first};
  }

  std::vector<NamedArrays> parts;
  std::vector<std::string> names;
  int64_t count = 0;
};

int64_t output_number(const std::string& label) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  if (error != std::errc() || end != label.data() + label.size() || number < 0) {
    throw InvalidInput(fmt::format("there is no output {}", label));
  }
  return number;
}

template <class List>
ConceptExamples listed(List& list, const std::vector<ExampleSet>& concepts,
                       const std::vector<ExampleSet>& random) {
  ConceptExamples examples;
  for (const ExampleSet& set : concepts) {
    examples.concepts.push_back(list.add(set.name, set.inputs));
  }
  for (const ExampleSet& set : random) examples.random.push_back(list.add(set.name, set.inputs));
  return examples;
}

ConceptReport test_on_arrays(const ArrayReader& reader, const std::vector<ExampleSet>& concepts,
                             const std::vector<ExampleSet>& random,
                             const std::vector<TargetSet>& targets,
                             const ConceptsRequest& request) {
  ArrayList list;
  ConceptExamples examples = listed(list, concepts, random);
  for (const TargetSet& target : targets) {
    const int64_t output = output_number(target.label);
    examples.targets.push_back({list.add(fmt::format("output {}", output), target.inputs), output});
  }
  if (list.count == 0) throw InvalidInput("there are no examples");
  const ArrayConceptInputs inputs(reader.arrays(), joined(list.parts, list.names));
  ConceptReport report = study_concepts(inputs, examples, request);
  report.model = {reader.facts().name, reader.facts().architecture};
  report.unit = "rows";
  return report;
}

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
  if (const auto* arrays = dynamic_cast<const ArrayReader*>(&reader)) {
    return test_on_arrays(*arrays, concepts, random, targets, request);
  }
  ExampleList list;
  ConceptExamples examples = listed(list, concepts, random);
  const std::vector<std::string> labels = reader.answered(targets[0].inputs[0], {}).labels;
  for (const TargetSet& target : targets) {
    const int64_t output = label_index(labels, target.label, "target");
    examples.targets.push_back({list.add(labels[output], target.inputs), output});
  }
  const SampleConceptInputs inputs(reader, std::move(list.all), dtype_of(request.precision));
  ConceptReport report = study_concepts(inputs, examples, request);
  report.model = model.name();
  report.unit = reader.what();
  const std::vector<std::string>& notes = inputs.notes();
  if (!notes.empty()) {
    report.notes.push_back(
        fmt::format("{} of {} {}: {}", notes.size(), inputs.count(), reader.what(), notes[0]));
  }
  const std::vector<std::string>& own = reader.source().facts().notes;
  report.notes.insert(report.notes.end(), own.begin(), own.end());
  return report;
}

}  // namespace whyformer
