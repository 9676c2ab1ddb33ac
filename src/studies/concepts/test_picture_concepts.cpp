#include "api/labels.h"
#include "models/picture_model.h"
#include "readers/given_picture.h"
#include "readers/pictures/picture_processor.h"
#include "studies/concepts/block_outputs.h"
#include "studies/concepts/concept_study.h"
#include "studies/concepts/picture_inputs.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// All pictures in a row, and which of them belong to what.
class Collected {
 public:
  ExampleSet add(const std::string& name, const std::vector<PictureInput>& pictures) {
    const ExampleSet set{name, static_cast<int64_t>(all.size()),
                         static_cast<int64_t>(pictures.size())};
    all.insert(all.end(), pictures.begin(), pictures.end());
    return set;
  }

  std::vector<PictureInput> all;
};

}  // namespace

ConceptReport test_concepts(const Model& model, const std::vector<PictureSet>& concepts,
                            const std::vector<PictureSet>& random,
                            const std::vector<TargetPictures>& targets,
                            const ConceptsRequest& request) {
  const PictureModel& pictures = model.picture_model();
  const PictureProcessor& processor = model.picture_processor();
  const auto size = processor.input_size();
  if (!size) {
    throw InvalidInput(
        "concept tests need pictures of one size, but the model's processor keeps their "
        "proportions: add a centre crop to preprocessor_config.json");
  }
  pictures.check_takes(size->height, size->width);
  Collected given;
  ConceptExamples examples;
  for (const PictureSet& set : concepts)
    examples.concepts.push_back(given.add(set.name, set.pictures));
  for (const PictureSet& set : random) examples.random.push_back(given.add(set.name, set.pictures));
  for (const TargetPictures& target : targets) {
    const int64_t output = label_index(pictures.output_names(), target.label, "target");
    examples.targets.push_back(
        {given.add(pictures.output_names()[output], target.pictures), output});
  }
  const DType dtype = request.precision == Precision::kDouble ? DType::kFloat64 : DType::kFloat32;
  const Head head = pictures.has_classifier() ? Head::kLogits : Head::kEmbedding;
  const auto build = [&](int64_t count, LastBlock last) -> PixelGraph {
    const auto graph = pictures.graph({.batch = count,
                                       .height = size->height,
                                       .width = size->width,
                                       .head = head,
                                       .dtype = dtype,
                                       .all_rows = last == LastBlock::kAllRows});
    return {{graph, &graph->graph, block_outputs(graph->graph, graph->found, graph->output),
             graph->output},
            graph->pixels};
  };
  const auto load = [&](int64_t example) {
    return processor(pixels_of(given.all[example])).values;
  };
  const PictureConceptInputs inputs(static_cast<int64_t>(given.all.size()), build, load,
                                    pictures.most_at_once());
  ConceptReport report = study_concepts(inputs, examples, request);
  report.model = model.name();
  report.unit = "pictures";
  report.notes.insert(report.notes.end(), pictures.notes().begin(), pictures.notes().end());
  return report;
}

}  // namespace whyformer
