#include "whyformer/arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "api/describe.h"
#include "api/units.h"
#include "formats/file_checks.h"
#include "formats/weights.h"
#include "graph/walk_back.h"
#include "methods/jobs.h"
#include "models/sample_ranges.h"
#include "models/text_model.h"
#include "readers/array_file.h"
#include "readers/array_samples.h"
#include "readers/array_subject.h"
#include "readers/tokenizers/tokenizer.h"
#include "run/pulse_question.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

void check_has_elements(const std::string& name, const Shape& shape) {
  if (element_count(shape) > 0) return;
  throw InvalidInput(fmt::format(
      "the output {} has the shape {} and so no elements to explain; choose another with --output",
      in_quotes(name), to_string(shape)));
}

std::vector<int64_t> largest_element(const Tensor& output) {
  const std::vector<double> numbers = output.to_doubles();
  int64_t at = std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
  std::vector<int64_t> indices;
  for (int axis = output.rank() - 1; axis >= 0; --axis) {
    indices.insert(indices.begin(), at % output.dim(axis));
    at /= output.dim(axis);
  }
  return indices;
}

// The element's position in the output.
int64_t position_of(const std::vector<int64_t>& indices, const Shape& shape,
                    const std::string& name) {
  int64_t at = 0;
  bool inside = indices.size() == shape.size();
  for (size_t axis = 0; inside && axis < shape.size(); ++axis) {
    inside = indices[axis] >= 0 && indices[axis] < shape[axis];
    at = at * shape[axis] + indices[axis];
  }
  if (!inside) {
    throw InvalidInput(
        fmt::format("the output '{}' has the shape {}: there is no element {}; give one number per "
                    "axis, from 0",
                    name, to_string(shape), fmt::join(indices, ",")));
  }
  return at;
}

void check_finite(double value) {
  if (std::isfinite(value)) return;
  throw InvalidInput(
      fmt::format("the model answers {} there: look at the inputs for NaN or huge numbers", value));
}

// The other samples must not matter: where they do, the element was not that of the one in front.
void check_same_value(double value, const Samples& samples) {
  if (!samples.value || std::abs(value - *samples.value) <= 1e-3 * std::abs(*samples.value) + 1e-6)
    return;
  throw InvalidInput(
      fmt::format("the element is {} among the inputs that were given together and {} with its own "
                  "in front: give one input alone",
                  *samples.value, value));
}

// Tensors collected for a safetensors file.
class Collected {
 public:
  void add(const std::string& name, const Tensor& tensor) {
    tensors_.push_back({name, tensor.cast(DType::kFloat32).contiguous()});
  }
  // Without the batch axis where it has the length 1.
  void add_map(const std::string& name, const Tensor& map) {
    add(name, map.dim(0) == 1 ? map.select(0, 0) : map);
  }
  std::string bytes() const {
    std::vector<NamedFloats> floats;
    for (const auto& [name, tensor] : tensors_) {
      floats.push_back(
          {name, tensor.shape(), {tensor.data<float>(), static_cast<size_t>(tensor.size())}});
    }
    return write_safetensors(floats);
  }

 private:
  std::vector<std::pair<std::string, Tensor>> tensors_;
};

// What hides a token, where nobody says: a tokenizer's mask token, or padding.
std::optional<int64_t> usual_hiding_id(const OnnxArrayModel& model) {
  try {
    const auto mask = load_tokenizer(files_of_model(model.path()))->mask_id();
    if (mask) return mask;
  } catch (const Error&) {
    // Most files of this kind come without a tokenizer.
  }
  const int64_t padding = model.config().id_or("pad_token_id", -1);
  return padding >= 0 ? std::optional(padding) : std::nullopt;
}

// The units as a text, "input_ids 0 = 17, input_ids 1 = 4, …", and where each stands in it.
void write_units(const ArrayUnits& units, const NamedArrays& arrays, Explanation& explanation) {
  int64_t length = 0;
  for (const ArrayPart& part : units.parts) {
    const bool ids =
        part.segment.kind == StreamSegment::Kind::kTokens && arrays.contains(part.segment.input);
    const Tensor given = ids ? arrays.at(part.segment.input).select(0, 0).contiguous() : Tensor();
    for (int64_t i = 0; i < part.units.count; ++i) {
      std::string text = name_of_unit(part, i);
      if (ids && i < given.size()) text += fmt::format(" = {}", given.to_doubles()[i]);
      if (length > 0) explanation.text += ", ";
      length += length > 0 ? 2 : 0;
      const int64_t size =
          std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
      explanation.units.push_back(
          {.text = text,
           .start = length,
           .end = length + size,
           .special = part.cuts.empty(),
           .word = part.cuts.empty() ? -1 : static_cast<int64_t>(explanation.units.size())});
      explanation.text += text;
      length += size;
    }
  }
}

// A model given arrays may have inputs of numbers that no token stands for; they are held as they
// are.
void note_other_inputs(const OnnxProbe& probe, const ArrayUnits& units,
                       std::vector<std::string>& notes) {
  for (const auto& [name, value] : probe.inputs) {
    const bool used = std::any_of(
        units.parts.begin(), units.parts.end(),
        [&](const ArrayPart& part) { return !part.cuts.empty() && part.segment.input == name; });
    if (used || !probe.graph.varies(value)) continue;
    notes.push_back(
        fmt::format("The input '{}' is held as it is: no token gets its numbers.", name));
  }
}

// What is given together runs as the file says, which may let inputs change each other's answers.
void note_shared_ranges(const OnnxProbe& probe, std::vector<std::string>& notes) {
  if (probe.batch < 2 || !has_dynamic_ranges(probe.graph)) return;
  notes.push_back(
      fmt::format("The model rounds by the span of all {} inputs that were given together: alone "
                  "each may get another answer.",
                  probe.batch));
}

// A token whose numbers were not found must not look like one that does not matter.
void note_missing_places(const ArrayUnits& units, const Needs& needs,
                         std::vector<std::string>& notes) {
  if (!needs.embedding_gradient && !needs.values) return;
  for (const ArrayPart& part : units.parts) {
    int64_t placed = 0;
    for (const ArrayPart& place : units.places) {
      const bool own = place.units.first >= part.units.first &&
                       place.units.first < part.units.first + part.units.count;
      placed += own ? place.units.count : 0;
    }
    if (part.cuts.empty() || placed == part.units.count) continue;
    notes.push_back(
        fmt::format("Where the vectors of {} of the {} tokens of '{}' enter the model was not "
                    "recognised: methods by "
                    "gradients and by relevance at the input give them no score (0).",
                    part.units.count - placed, part.units.count, part.segment.input));
  }
}

}  // namespace

ArrayModel ArrayModel::load(const std::filesystem::path& path, const BatchAxes& batch_axes) {
  return ArrayModel(std::make_shared<const OnnxArrayModel>(path, batch_axes));
}

ModelName ArrayModel::name() const {
  return {std::filesystem::weakly_canonical(model_->path()).filename().string(),
          architecture_name(model_->config())};
}

std::vector<std::string> ArrayModel::outputs() const {
  std::vector<std::string> names;
  for (const auto& output : model_->file().graph.outputs) names.push_back(output.name);
  return names;
}

ModelInfo ArrayModel::inspect(const ArrayViews& inputs) const {
  return describe(*model_->probe(tensors_of(inputs), {}), model_->path());
}

std::map<std::string, ArrayModel::Answer, std::less<>> ArrayModel::run(
    const ArrayViews& inputs) const {
  const NamedArrays arrays = tensors_of(inputs);
  const auto probe = model_->probe(arrays, {});
  std::vector<Value> wanted;
  for (const auto& [name, value] : probe->outputs) wanted.push_back(value);
  const Feeds feeds =
      OnnxArrayModel::feeds(*probe, OnnxArrayModel::with_batch_in_front(*probe, arrays));
  const Pass pass = whyformer::run(probe->graph, feeds, {.outputs = wanted});
  std::map<std::string, Answer, std::less<>> answers;
  for (const auto& [name, value] : probe->outputs)
    answers[name] = {pass[value].shape(), pass[value].to_doubles()};
  return answers;
}

ArrayTrace ArrayModel::trace(const ArrayViews& inputs, const ArrayTarget& target) const {
  const NamedArrays arrays = tensors_of(inputs);
  const auto probe = model_->probe(arrays, {});
  ArrayTrace result;
  result.output = model_->output_named(target.output);
  const Value from = probe->outputs.at(result.output);
  std::vector<Value> kept, wanted;
  for (const AttentionSite& site : probe->found.sites) wanted.push_back(site.attention);
  kept = wanted;
  for (const auto& [name, value] : probe->outputs) kept.push_back(value);
  const Feeds feeds =
      OnnxArrayModel::feeds(*probe, OnnxArrayModel::with_batch_in_front(*probe, arrays));
  const Pass pass = whyformer::run(probe->graph, feeds, {Keep::kGradients, kept});
  check_has_elements(result.output, pass[from].shape());
  result.indices = target.indices.empty() ? largest_element(pass[from]) : target.indices;
  const int64_t at = position_of(result.indices, pass[from].shape(), result.output);
  result.value = pass[from].to_doubles()[at];
  check_finite(result.value);
  Tensor seed = Tensor::zeros(pass[from].shape(), DType::kFloat32);
  seed.mutable_data<float>()[at] = 1;
  for (const auto& [name, value] : probe->inputs) {
    if (probe->graph.type(value).dtype != DType::kInt64) wanted.push_back(value);
  }
  const auto gradients = walk_back(probe->graph, pass, from, seed, gradient_rule(), wanted);
  result.info = describe(*probe, model_->path());
  Collected collected;
  const std::vector<AttentionSite>& sites = probe->found.sites;
  for (size_t site = 0; site < sites.size(); ++site) {
    const Value map = sites[site].attention;
    collected.add_map(fmt::format("attention.{}", site), pass[map]);
    collected.add_map(fmt::format("attention_gradient.{}", site), gradients.at(map));
  }
  for (const auto& [name, value] : probe->outputs) collected.add("output." + name, pass[value]);
  for (const auto& [name, value] : probe->inputs) {
    const auto gradient = gradients.find(value);
    if (gradient == gradients.end()) continue;
    collected.add("input_gradient." + name, as_in_file(gradient->second, probe->batch_axis(name)));
  }
  result.safetensors = collected.bytes();
  return result;
}

ArrayExplanation ArrayModel::explain(const ArrayViews& inputs, const ArrayRequest& request) const {
  const PulseScope pulses(pulse_question(request.progress));
  const std::vector<Job> jobs = jobs_of(request.methods);
  const DType dtype = request.precision == Precision::kDouble ? DType::kFloat64 : DType::kFloat32;
  const NamedArrays given = tensors_of(inputs);
  ArrayExplanation result;
  result.target.output = model_->output_named(request.target.output);
  const auto probe = model_->probe(given, {{result.target.output}, dtype});
  const Value output = probe->outputs.at(result.target.output);
  const Shape& shape = probe->graph.shape(output);
  check_has_elements(result.target.output, shape);
  std::vector<int64_t> indices = request.target.indices;
  if (indices.empty()) {
    const Feeds feeds =
        OnnxArrayModel::feeds(*probe, OnnxArrayModel::with_batch_in_front(*probe, given));
    indices = largest_element(whyformer::run(probe->graph, feeds, {.outputs = {output}})[output]);
  }
  position_of(indices, shape, result.target.output);
  result.target.indices = indices;
  const Samples samples = with_sample_first({given, indices}, *probe, output);
  const auto element = model_->graph(samples.arrays, result.target.output, samples.indices, dtype);
  const NamedArrays arrays = OnnxArrayModel::with_batch_in_front(*element->probe, samples.arrays);
  auto subject = std::make_unique<ArraySubject>(
      element, arrays, request.hiding_id ? request.hiding_id : usual_hiding_id(*model_));
  const ArrayUnits units = subject->array_units();
  Explained explained(std::move(subject), {.needs = needs_of(jobs),
                                           .dtype = dtype,
                                           .seed = request.seed,
                                           .memory_bytes = request.memory_bytes,
                                           .progress = request.progress});
  explained.set_target(element->target);
  check_finite(explained.target_value());
  check_same_value(explained.target_value(), samples);
  result.info = describe(*probe, model_->path());
  Explanation& explanation = result.explanation;
  explanation.model = name();
  write_units(units, arrays, explanation);
  const std::string label =
      fmt::format("{}[{}]", result.target.output, fmt::join(result.target.indices, ","));
  explanation.output = {"value", {explained.target_value()}, {label}};
  explanation.target = {0, label, explained.target_value(), {}};
  explanation.notes = result.info.notes;
  note_other_inputs(*probe, units, explanation.notes);
  note_missing_places(units, needs_of(jobs), explanation.notes);
  note_shared_ranges(*probe, explanation.notes);
  run_jobs(jobs, explained, explanation);
  for (Attribution& one : explanation.attributions) {
    one.words = fold_words(explanation.units, one.scores, {explanation.text, {}}, WordFold::kSum);
  }
  if (!explained.several_streams()) explanation.attention = attention_maps(explained);
  for (size_t stream = 0; stream < units.streams.size(); ++stream) {
    const bool found = units.why_no_maps.empty();
    const auto own = std::find_if(
        units.parts.begin(), units.parts.end(),
        [&](const ArrayPart& part) { return part.stream == static_cast<int>(stream); });
    result.streams.push_back(
        {found ? result.info.streams[stream].units : "positions of " + own->segment.input,
         units.streams[stream].first, units.streams[stream].count});
  }
  return result;
}

std::vector<StreamScores> ArrayExplanation::by_stream(const Attribution& attribution) const {
  std::vector<StreamScores> result;
  for (const Stream& stream : streams) {
    const auto first = attribution.scores.begin() + stream.first;
    result.push_back(
        {static_cast<int>(result.size()), stream.units, {first, first + stream.count}});
  }
  return result;
}

}  // namespace whyformer
