#include <fmt/format.h>

#include "api/prepare.h"
#include "formats/weights.h"
#include "methods/jobs.h"
#include "run/pulse_question.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

NamedFloats floats_of(const std::string& name, const AttentionMap& map) {
  std::vector<int64_t> shape{map.heads, map.queries, map.keys};
  if (map.stack > 1) shape.insert(shape.begin(), map.stack);
  const auto count = static_cast<size_t>(map.stack * map.heads * map.queries * map.keys);
  return {name, shape, {map.values.get(), count}};
}

}  // namespace

Trace trace(const Model& model, const InputValue& input, const ExplainRequest& request) {
  const Reader& reader = model.reader_of(input);
  const Question question{.similar_to = request.similar_to,
                          .dtype = dtype_of(request.precision),
                          .target = request.target};
  if (auto own = reader.trace(input, question)) {
    if (request.edits.empty()) return *own;
    throw InvalidInput(
        "a trace of arrays is of the model as it is: probe it to read values of the changed one");
  }
  constexpr Needs kMapsAndGradients{.attention = true, .attention_gradient = true};
  Prepared prepared = prepare(reader, input, request, {.alone = kMapsAndGradients});
  choose_target(prepared, targets_of(prepared, request)[0]);
  Run& run = prepared.run();
  const PulseScope pulses(run.pulse_question());
  Trace result;
  if (run.layers() > 0) run.require_maps_of_units();
  for (int layer = 0; layer < run.layers(); ++layer) {
    const std::string& name = run.found().sites[layer].name;
    result.attention.push_back(map_of(name, run.attention(layer)));
    result.attention_gradient.push_back(map_of(name, run.attention_gradient(layer)));
  }
  result.units = std::move(prepared.common.units);
  result.output = std::move(prepared.common.output);
  result.target = std::move(prepared.target);
  result.notes = std::move(prepared.common.notes);
  if (run.layers() == 0) {
    result.notes.push_back("No attention was found in this model: there are no maps.");
  }
  return result;
}

std::vector<AttentionMap> attention(const Model& model, const InputValue& input) {
  const Reader& reader = model.reader_of(input);
  const Question question{.needs_answer = false};
  if (auto own = reader.trace(input, question)) return std::move(own->attention);
  Reading reading = reader.read(input, question);
  check_one_part(reading);
  const Run run(std::move(reading.inputs[0]), {.needs = {.attention = true}});
  if (run.layers() > 0) run.require_maps();
  return attention_maps(run);
}

std::string to_safetensors(const Trace& trace) {
  std::vector<NamedFloats> tensors, gradients;
  for (size_t layer = 0; layer < trace.attention.size(); ++layer) {
    tensors.push_back(floats_of(fmt::format("attention.{}", layer), trace.attention[layer]));
    const NamedFloats gradient =
        floats_of(fmt::format("attention_gradient.{}", layer), trace.attention_gradient[layer]);
    // Beside its map where all arrays of a model are told.
    (trace.arrays.empty() ? gradients : tensors).push_back(gradient);
  }
  tensors.insert(tensors.end(), gradients.begin(), gradients.end());
  for (const TracedArray& array : trace.arrays) {
    size_t count = 1;
    for (const int64_t length : array.shape) count *= static_cast<size_t>(length);
    tensors.push_back({array.name, array.shape, {array.values.get(), count}});
  }
  std::vector<float> logits;
  for (const double value : trace.output.values) logits.push_back(static_cast<float>(value));
  if (trace.arrays.empty()) {
    tensors.push_back({"logits", {static_cast<int64_t>(logits.size())}, logits});
  }
  return write_safetensors(tensors);
}

}  // namespace whyformer
