#include <fmt/format.h>

#include "api/labels.h"
#include "studies/concepts/concept_study.h"
#include "studies/concepts/text_inputs.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// All texts in a row, and which of them belong to what.
class Collected {
 public:
  explicit Collected(const TextModel& model) : model_(model) {}

  ExampleSet add(const std::string& name, const std::vector<TextInput>& texts) {
    ExampleSet set{name, static_cast<int64_t>(encodings.size()),
                   static_cast<int64_t>(texts.size())};
    for (size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].text.find_first_not_of(" \t\r\n\f\v") == std::string::npos) {
        throw InvalidInput(fmt::format("text {} of '{}' is empty", i + 1, name));
      }
      const auto pair =
          texts[i].pair ? std::optional<std::string_view>(*texts[i].pair) : std::nullopt;
      encodings.push_back(model_.encode(texts[i].text, pair));
      cut += encodings.back().truncated > 0;
    }
    return set;
  }

  std::vector<Encoding> encodings;
  int64_t cut = 0;

 private:
  const TextModel& model_;
};

}  // namespace

ConceptReport test_concepts(const Model& model, const std::vector<TextSet>& concepts,
                            const std::vector<TextSet>& random,
                            const std::vector<TargetTexts>& targets,
                            const ConceptsRequest& request) {
  const TextModel& text_model = model.text_model();
  Collected texts(text_model);
  ConceptExamples examples;
  for (const TextSet& set : concepts) examples.concepts.push_back(texts.add(set.name, set.texts));
  for (const TextSet& set : random) examples.random.push_back(texts.add(set.name, set.texts));
  for (const TargetTexts& target : targets) {
    const int64_t output = label_index(text_model.output_names(), target.label, "target");
    examples.targets.push_back(
        {texts.add(text_model.output_names()[output], target.texts), output});
  }
  const int64_t cut = texts.cut;
  const DType dtype = request.precision == Precision::kDouble ? DType::kFloat64 : DType::kFloat32;
  const TextConceptInputs inputs(text_model, std::move(texts.encodings), dtype);
  ConceptReport report = study_concepts(inputs, examples, request);
  report.model = model.name();
  report.unit = "texts";
  if (cut > 0) {
    report.notes.push_back(fmt::format(
        "{} texts are longer than the model reads and were cut off at its maximum of {} tokens.",
        cut, text_model.max_tokens()));
  }
  return report;
}

}  // namespace whyformer
