#include "readers/array_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "models/sample_ranges.h"
#include "readers/array_concept_inputs.h"
#include "readers/array_element.h"
#include "readers/array_file.h"
#include "readers/array_part.h"
#include "readers/array_samples.h"
#include "readers/describe.h"
#include "readers/tokenizers/tokenizer.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The other samples must not matter: where they do, the element was not that of the one in front.
void check_same_value(double value, const Samples& samples) {
  if (!samples.value || std::abs(value - *samples.value) <= 1e-3 * std::abs(*samples.value) + 1e-6)
    return;
  throw InvalidInput(
      fmt::format("the element is {} among the inputs that were given together and {} with its own "
                  "in front: give one input alone",
                  *samples.value, value));
}

// What hides a token, where nobody says: a tokenizer's mask token, or padding.
std::optional<int64_t> default_hiding_id(const OnnxArrays& model) {
  try {
    const auto mask = load_tokenizer(model.document().files)->mask_id();
    if (mask) return mask;
  } catch (const Error&) {
    // Most files of this kind come without a tokenizer.
  }
  const int64_t padding = model.config().id_or("pad_token_id", -1);
  return padding >= 0 ? std::optional(padding) : std::nullopt;
}

// A model given arrays may have inputs of numbers that no token stands for; they are held as they
// are.
void note_other_inputs(const OnnxProbe& probe, const ArrayUnits& units,
                       std::vector<std::string>& notes) {
  for (const auto& [name, value] : probe.inputs) {
    const bool used = std::any_of(
        units.segments.begin(), units.segments.end(),
        [&](const ArraySegment& part) { return !part.cuts.empty() && part.segment.input == name; });
    if (used || !probe.graph.varies(value)) continue;
    notes.push_back(fmt::format("Input '{}' is kept fixed: no unit stands for it.", name));
  }
}

// What is given together runs as the file says, which may let inputs change each other's answers.
void note_shared_ranges(const OnnxProbe& probe, std::vector<std::string>& notes) {
  if (probe.batch < 2 || !has_dynamic_ranges(probe.graph)) return;
  notes.push_back(fmt::format(
      "The model uses dynamic quantisation, whose scale depends on the whole batch: the {} "
      "inputs given together may have other answers alone.",
      probe.batch));
}

// A token whose numbers were not found must not look like one that does not matter.
void note_missing_entries(const ArrayUnits& units, std::vector<std::string>& notes) {
  for (const ArraySegment& part : units.segments) {
    int64_t placed = 0;
    for (const ArraySegment& entry : units.entries) {
      const bool own = entry.units.first >= part.units.first &&
                       entry.units.first < part.units.first + part.units.count;
      placed += own ? entry.units.count : 0;
    }
    if (part.cuts.empty() || placed == part.units.count) continue;
    notes.push_back(
        fmt::format("Where the vectors of {} of the {} tokens of '{}' enter the model was not "
                    "recognised: at the "
                    "input they get no score (0).",
                    part.units.count - placed, part.units.count, part.segment.input));
  }
}

std::vector<UnitStream> named_streams(const ArrayUnits& units, const ModelInfo& info) {
  std::vector<UnitStream> streams;
  for (size_t stream = 0; stream < units.streams.size(); ++stream) {
    const bool found = units.why_no_maps.empty();
    const auto own = std::find_if(
        units.segments.begin(), units.segments.end(),
        [&](const ArraySegment& one) { return one.stream == static_cast<int>(stream); });
    streams.push_back({found ? info.streams[stream].units : "positions of " + own->segment.input,
                       units.streams[stream].first, units.streams[stream].count});
  }
  return streams;
}

}  // namespace

OutputElement element_asked(const TargetChoice& target) {
  if (const auto* element = std::get_if<OutputElement>(&target)) return *element;
  if (std::holds_alternative<std::monostate>(target)) return {};
  throw InvalidInput(
      "an answer of a model given arrays is an element of an output: choose it by the output's "
      "name and one index per axis");
}

std::string label_of(const OutputElement& element) {
  return fmt::format("{}[{}]", element.output, fmt::join(element.indices, ","));
}

ArrayReader::ArrayReader(OnnxDocument document, std::string name, BatchAxes batch_axes,
                         std::exception_ptr why_alone)
    : arrays_(std::move(document), std::move(batch_axes)),
      facts_{.name = std::move(name),
             .architecture = architecture_name(arrays_.config()),
             .native = native_names_of(arrays_.file())},
      why_alone_(std::move(why_alone)) {}

const GraphSource& ArrayReader::source() const {
  throw Error("a model given arrays has a graph only for a chosen output element");
}

ModelInfo ArrayReader::info() const {
  return describe(probe_onnx(arrays_.document(), {}), arrays_.document().path);
}

Answered ArrayReader::answered(const InputValue&, const Question& question) const {
  if (question.similar_to) {
    throw InvalidInput("similarity to a text has no meaning for a model given arrays");
  }
  return {.kind = {.dtype = question.dtype}, .space = "value"};
}

Sample ArrayReader::sample(const InputValue& value, DType, std::vector<std::string>&) const {
  return tensors_of(std::get<ArrayViews>(value));
}

int64_t ArrayReader::max_at_once(const InputValue&) const {
  throw InvalidInput(
      "arrays are run one at a time: give texts, pictures or rows of a table where many inputs run "
      "together");
}

Reading ArrayReader::read(const InputValue& value, const Question& question) const {
  Reading reading;
  reading.answered = answered(value, question);
  const DType dtype = question.dtype;
  const NamedArrays given = tensors_of(std::get<ArrayViews>(value));
  OutputElement target = element_asked(question.target);
  target.output = arrays_.output_named(target.output);
  const auto probe = arrays_.probe(given, {{target.output}, dtype});
  const Value output = probe->outputs.at(target.output);
  const Shape& shape = probe->graph.shape(output);
  check_has_elements(target.output, shape);
  if (target.indices.empty()) {
    const Feeds feeds = OnnxArrays::feeds(*probe, OnnxArrays::with_batch_in_front(*probe, given));
    target.indices =
        largest_element(whyformer::run(probe->graph, feeds, {.outputs = {output}})[output]);
  }
  position_of(target.indices, shape, target.output);
  const Samples samples = with_sample_first({given, target.indices}, *probe, output);
  const bool whole = question.all_rows || question.edits != nullptr;
  auto element =
      arrays_.element(samples.arrays, target.output, samples.indices, dtype,
                      whole ? OnnxArrays::LastRows::kAll : OnnxArrays::LastRows::kReadOnes);
  if (question.randomisation) element = arrays_.randomised(*element, *question.randomisation);
  if (question.edits) element = OnnxArrays::edited(*element, question.edits);
  const NamedArrays arrays = OnnxArrays::with_batch_in_front(*element->probe, samples.arrays);
  auto part = std::make_unique<ArraysPart>(
      element, arrays, question.hiding_id ? question.hiding_id : default_hiding_id(arrays_));
  const ArrayUnits& units = part->array_units();
  const ModelInfo info = describe(*probe, arrays_.document().path);
  reading.answered.labels = {label_of(target)};
  reading.notes = info.notes;
  note_other_inputs(*probe, units, reading.notes);
  note_missing_entries(units, reading.entry_notes);
  note_shared_ranges(*probe, reading.notes);
  reading.shown.model = {facts_.name, facts_.architecture};
  reading.shown.text = part->shown_text();
  reading.shown.units = part->units();
  reading.shown.streams = named_streams(units, info);
  reading.shown.read_out = info.read_out;
  reading.shown.target.element = target;
  reading.element = element->target;
  // The samples' value is that of the model as it is.
  const bool own_weights = !question.randomisation && !question.edits;
  reading.check_element = [samples = Samples{{}, {}, samples.value}, own_weights](double found) {
    check_finite(found);
    if (own_weights) check_same_value(found, samples);
  };
  InputFacts facts{.source = std::make_shared<ElementSource>(facts_, part->graph()),
                   .kind = reading.answered.kind,
                   .sample = arrays,
                   .max_at_once = 1,
                   .why_no_maps = units.why_no_maps,
                   .out_of_reach = part->out_of_reach(),
                   .of_element = true};
  if (units.streams.size() > 1) facts.streams = units.streams;
  std::vector<std::unique_ptr<const Part>> parts;
  parts.push_back(std::move(part));
  reading.inputs.emplace_back(std::move(facts), std::move(parts));
  return reading;
}

ListedConcepts ArrayReader::concepts_of(const GivenConcepts& sets, DType) const {
  return listed_arrays(arrays_, sets);
}

// Another along the last axis of the output.
std::optional<TargetChoice> ArrayReader::another_target(const InputValue& value,
                                                        const Explanation& explanation,
                                                        const DrawOther& draw) const {
  OutputElement element = explanation.target.element.value();
  if (element.indices.empty()) return std::nullopt;
  const int64_t count = run(std::get<ArrayViews>(value)).at(element.output).shape.back();
  if (count < 2) return std::nullopt;
  element.indices.back() = draw(element.indices.back(), count);
  return element;
}

std::vector<std::string> ArrayReader::default_methods(const InputValue* value,
                                                      const Question& question) const {
  if (value == nullptr && why_alone_) std::rethrow_exception(why_alone_);
  if (value == nullptr) throw InvalidInput("which methods fit depends on the arrays");
  const OutputElement target = element_asked(question.target);
  const auto probe = arrays_.probe(tensors_of(std::get<ArrayViews>(*value)),
                                   {{arrays_.output_named(target.output)}});
  if (array_units(*probe).why_no_maps.empty()) return {"gae"};
  return {"gradient-x-input", "leave-one-out"};
}

}  // namespace whyformer
