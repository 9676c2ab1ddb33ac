#include <fmt/format.h>

#include "models/text_model.h"
#include "studies/concepts/array_inputs.h"
#include "studies/concepts/concept_study.h"
#include "whyformer/error.h"

namespace whyformer {

ConceptReport test_array_concepts(const std::filesystem::path& model,
                                  const std::vector<ArraySet>& concepts,
                                  const std::vector<ArraySet>& random,
                                  const std::vector<TargetArrays>& targets,
                                  const ConceptsRequest& request) {
  const std::filesystem::path file = onnx_file_of(model);
  if (file.empty()) {
    throw FileError(fmt::format(
        "arrays go into an ONNX file, and '{}' is none and holds none: give the file itself",
        model.string()));
  }
  std::vector<NamedArrays> parts;
  std::vector<std::string> names;
  int64_t at = 0;
  const auto add = [&](const std::string& name, const std::filesystem::path& path) {
    names.push_back(path.string());
    parts.push_back(read_arrays(path));
    for (auto& [input, array] : parts.back()) {
      if (array.dtype() == DType::kFloat64)
        array = array.cast(DType::kFloat32);  // as all of the study is
    }
    const ExampleSet set{name, at, example_count(parts.back(), names.back())};
    at += set.count;
    return set;
  };
  ConceptExamples examples;
  for (const ArraySet& set : concepts) examples.concepts.push_back(add(set.name, set.file));
  for (const ArraySet& set : random) examples.random.push_back(add(set.name, set.file));
  for (const TargetArrays& target : targets) {
    if (target.output < 0) throw InvalidInput(fmt::format("there is no output {}", target.output));
    examples.targets.push_back(
        {add(fmt::format("output {}", target.output), target.file), target.output});
  }
  if (parts.empty() || at == 0) throw InvalidInput("there are no examples");
  const ArrayConceptInputs inputs(file, joined(parts, names));
  ConceptReport report = study_concepts(inputs, examples, request);
  report.model = {model.filename().string(), "ONNX"};
  report.unit = "rows";
  return report;
}

}  // namespace whyformer
