#include <fmt/format.h>

#include "formats/weights.h"
#include "studies/learned/learned_study.h"
#include "whyformer/error.h"

namespace whyformer {

LearnedReport probe_layers(const Model& model, const std::vector<LearnedExample>& examples,
                           const LearnedRequest& request) {
  if (examples.empty()) throw InvalidInput("there are no inputs to probe layers on");
  const Reader& reader = model.reader_of(examples[0].input);
  for (size_t i = 0; i < examples.size(); ++i) {
    const std::string& place = examples[i].place;
    check_kind(reader, examples[i].input, place.empty() ? fmt::format("input {}", i) : place);
  }
  LearnedReport report = study_learned(reader, examples, request);
  report.model = model.name();
  return report;
}

std::string directions_in_safetensors(const LearnedReport& report) {
  std::vector<NamedFloats> tensors;
  for (const LayerProbe& layer : report.layers) {
    const std::string name = layer.layer < 0 ? "embeddings" : fmt::format("layer.{}", layer.layer);
    const ProbeDirections& found = layer.directions;
    tensors.push_back({name + ".weight", {found.labels, found.width}, found.weights});
    tensors.push_back({name + ".bias", {found.labels}, found.intercepts});
  }
  return write_safetensors(tensors);
}

}  // namespace whyformer
