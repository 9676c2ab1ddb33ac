#include "explain/concepts/block_outputs.h"
#include "explain/concepts/concept_study.h"
#include "explain/concepts/picture_inputs.h"
#include "explain/labels.h"
#include "formats/pictures/picture.h"
#include "inputs/picture_processor.h"
#include "models/picture_model.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// All files in a row, and which of them belong to what.
class Collected {
 public:
  ExampleSet add(const std::string& name, const std::vector<std::filesystem::path>& files) {
    const ExampleSet set{name, static_cast<int64_t>(paths.size()), static_cast<int64_t>(files.size())};
    paths.insert(paths.end(), files.begin(), files.end());
    return set;
  }

  std::vector<std::filesystem::path> paths;
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
    throw InvalidInput("concept tests need pictures of one size, but the model's processor keeps their "
                       "proportions: add a centre crop to preprocessor_config.json");
  }
  Collected files;
  ConceptExamples examples;
  for (const PictureSet& set : concepts) examples.concepts.push_back(files.add(set.name, set.files));
  for (const PictureSet& set : random) examples.random.push_back(files.add(set.name, set.files));
  for (const TargetPictures& target : targets) {
    const int64_t output = label_index(pictures.output_names(), target.label, "target");
    examples.targets.push_back({files.add(pictures.output_names()[output], target.files), output});
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
    return {{graph, &graph->graph, block_outputs(graph->graph, graph->found, graph->output), graph->output},
            graph->pixels};
  };
  const auto load = [&](int64_t example) { return processor(read_picture(files.paths[example])).values; };
  const PictureConceptInputs inputs(static_cast<int64_t>(files.paths.size()), build, load);
  ConceptReport report = study_concepts(inputs, examples, request);
  report.model = model.name();
  report.unit = "pictures";
  return report;
}

}  // namespace whyformer
