#include "models/array_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "discovery/restrict_rows.h"
#include "models/picked_rows.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kLongestAnswer = 4096;  // perturbed inputs keep all of it
constexpr size_t kMostGraphs = 16;        // lengths vary; old graphs are dropped

// An id between two others would be cut to one of them.
void check_whole(const std::string& input, const Tensor& array) {
  if (array.dtype() == DType::kInt64) return;
  const std::vector<double> numbers = array.to_doubles();
  const auto part = std::find_if(numbers.begin(), numbers.end(),
                                 [](double number) { return number != std::trunc(number); });
  if (part == numbers.end()) return;
  throw InvalidInput(
      fmt::format("the input '{}' takes whole numbers, but element {} of what was given is {}",
                  input, part - numbers.begin(), *part));
}

// One element of a value.
struct Element {
  Value of;
  std::vector<int64_t> indices;
  std::vector<int> axes = {};  // where those of the output are
};

// The same element in front of views that only put the batch elsewhere or leave it out, as the
// output of a file may.
Element in_front_of_views(const Graph& graph, Element element) {
  for (size_t axis = 0; axis < element.indices.size(); ++axis)
    element.axes.push_back(static_cast<int>(axis));
  while (graph.producer(element.of) >= 0) {
    const Node& node = graph.nodes()[graph.producer(element.of)];
    const std::vector<int> order = axis_order(*node.op);
    Shape with_batch = graph.shape(element.of);
    with_batch.insert(with_batch.begin(), 1);
    if (!order.empty()) {
      std::vector<int64_t> indices(order.size());
      for (size_t axis = 0; axis < order.size(); ++axis)
        indices[order[axis]] = element.indices[axis];
      for (int& axis : element.axes) axis = order[axis];
      element.indices = std::move(indices);
    } else if (is_a<ops::Reshape>(*node.op) && graph.shape(node.inputs[0]) == with_batch) {
      element.indices.insert(element.indices.begin(), 0);
      for (int& axis : element.axes) ++axis;
    } else {
      break;
    }
    element.of = node.inputs[0];
  }
  return element;
}

// The output of the graph: a short row that has the element, or the element alone.
void cut_out(const Element& element, ElementGraph& built) {
  GraphBuilder graph(built.whole->graph, Folding::kNo);
  const Shape shape = graph.shape(element.of);
  const bool by_token = built.whole->found.read_out.kind == ReadOut::Kind::kEach;
  built.output = element.of;
  if (shape.size() == 2 && shape[0] == 1 && shape[1] <= kLongestAnswer && !by_token) {
    built.target = element.indices[1];
  } else {
    for (size_t axis = 0; axis < element.indices.size(); ++axis) {
      built.output =
          slice(graph, built.output, static_cast<int>(axis), element.indices[axis], 1, "element");
    }
    built.output = reshape(graph, built.output, {1, 1}, "element");
  }
  built.graph = graph.finish();
}

// The last layer goes on with the one row that is read: some models compute the others, too, in
// ways of their own.
void leave_out_rows(ElementGraph& built, const std::string& output) {
  OnnxProbe probe = *built.whole;
  std::vector<Value> full;
  std::vector<Value*> moved{&built.output};
  for (auto& [name, value] : probe.inputs) moved.push_back(&value);
  for (AttentionSite& site : probe.found.sites) {
    full.push_back(site.attention);
    moved.push_back(&site.attention);
  }
  Restricted restricted = restrict_rows(built.graph, built.output, full);
  for (Value* value : moved) *value = restricted.new_value[value->id];
  probe.outputs = {{output, built.output}};
  probe.found.read_out.read = {};
  probe.found.read_out.row += std::exchange(probe.found.read_out.first, 0);
  probe.graph = built.graph = std::move(restricted.graph);
  built.probe = std::make_shared<const OnnxProbe>(std::move(probe));
}

}  // namespace

OnnxArrays::OnnxArrays(OnnxDocument document, BatchAxes batch_axes)
    : document_(std::move(document)),
      batch_axes_(std::move(batch_axes)),
      config_(document_.config()) {
  if (file().graph.outputs.empty()) throw UnsupportedModel("the ONNX file has no outputs");
}

std::string OnnxArrays::output_named(const std::string& asked) const {
  if (asked.empty()) return main_output_of(file());
  std::vector<std::string> names;
  for (const auto& output : file().graph.outputs) {
    if (output.name == asked) return asked;
    names.push_back(output.name);
  }
  throw InvalidInput(fmt::format("the model has no output '{}'; its outputs are {}", asked,
                                 fmt::join(names, ", ")));
}

// Shapes, and the bytes of what a graph has built in. Integers are among them, for files whose
// shapes need them.
std::string OnnxArrays::key_of(const NamedArrays& arrays, const OnnxProbeRequest& request) const {
  std::string key =
      fmt::format("{} {}", static_cast<int>(request.floats), fmt::join(request.outputs, " "));
  for (const onnx::DeclaredValue& input : file().graph.inputs) {
    const auto given = arrays.find(input.name);
    if (given == arrays.end()) continue;
    key += fmt::format("|{} {} ", input.name, to_string(given->second.shape()));
    if (!is_bound_by_value(input)) continue;
    for (const double number : given->second.to_doubles()) {
      key.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
  }
  return key;
}

std::shared_ptr<const OnnxProbe> OnnxArrays::probe(const NamedArrays& arrays,
                                                   const OnnxProbeRequest& request) const {
  for (const onnx::DeclaredValue& input : file().graph.inputs) {
    const auto given = arrays.find(input.name);
    if (given != arrays.end() && !onnx::is_float(input.type))
      check_whole(input.name, given->second);
  }
  const std::string key = key_of(arrays, request);
  if (auto known = probes_.find(key)) return known;
  OnnxProbeRequest asked = request;
  asked.batch_axes = batch_axes_;
  auto built =
      std::make_shared<const OnnxProbe>(probe_onnx(*document_.model, config_, arrays, asked));
  // Built for the very integers that were given: of no use to others.
  for (const onnx::DeclaredValue& input : file().graph.inputs) {
    const bool whole = !onnx::is_float(input.type) && !is_bound_by_value(input);
    if (whole && arrays.contains(input.name) && !built->inputs.contains(input.name)) return built;
  }
  return probes_.add(key, std::move(built));
}

std::shared_ptr<const ElementGraph> OnnxArrays::element(const NamedArrays& arrays,
                                                        const std::string& output,
                                                        const std::vector<int64_t>& indices,
                                                        DType dtype, LastRows rows) const {
  const OnnxProbeRequest request{{output}, dtype};
  auto built = std::make_shared<ElementGraph>();
  built->probe = built->whole = probe(arrays, request);
  const std::string key =
      fmt::format("{} {} {}", static_cast<const void*>(built->whole.get()), fmt::join(indices, ","),
                  rows == LastRows::kAll ? "all rows" : "");
  const auto known = elements_.find(key);
  if (known != nullptr && known->whole == built->whole) return known;
  const Element element =
      in_front_of_views(built->whole->graph, {built->whole->outputs.at(output), indices});
  cut_out(element, *built);
  const ReadOut& read_out = built->whole->found.read_out;
  const bool one_row =
      read_out.kind == ReadOut::Kind::kRow && built->whole->found.streams.size() == 1;
  if (one_row && built->whole->batch == 1 && rows == LastRows::kReadOnes)
    leave_out_rows(*built, output);
  built->found = built->probe->found;
  if (read_out.kind == ReadOut::Kind::kEach) {
    built->found.read_out.read = element.of;
    built->found.read_out.axis = element.axes[read_out.axis];
  }
  built->embeddings = built->layers_input = built->output;
  elements_.add(key, built);
  return built;
}

std::shared_ptr<const ElementGraph> OnnxArrays::randomised(const ElementGraph& element,
                                                           const Randomisation& how) const {
  auto other = std::make_shared<ElementGraph>(element);
  other->graph = random_weights_.in_place_of(element, how);
  return other;
}

std::shared_ptr<const ElementGraph> OnnxArrays::edited(const ElementGraph& element,
                                                       std::shared_ptr<const AppliedEdits> edits) {
  auto other = std::make_shared<ElementGraph>(element);
  static_cast<ModelGraph&>(*other) =
      with_edits(element, edits->shapes(), names_in(element, {"onnx"}));
  other->applied = std::move(edits);
  return other;
}

Feeds OnnxArrays::feeds(const ElementGraph& element, const NamedArrays& arrays) {
  Feeds feeds = OnnxArrays::feeds(*element.probe, arrays);
  if (element.applied == nullptr) return feeds;
  SampleShapes shapes;
  for (const auto& [name, array] : arrays) shapes[name] = array.shape();
  feed_edits(element, *element.applied, shapes, feeds);
  return feeds;
}

NamedArrays OnnxArrays::with_batch_in_front(const OnnxProbe& probe, NamedArrays arrays) {
  for (auto& [name, array] : arrays)
    array = whyformer::with_batch_in_front(array, probe.batch_axis(name));
  return arrays;
}

Feeds OnnxArrays::feeds(const OnnxProbe& probe, const NamedArrays& arrays) {
  Feeds feeds;
  for (const auto& [name, value] : probe.inputs) {
    const auto given = arrays.find(name);
    if (given == arrays.end())
      throw InvalidInput(fmt::format("there is no array for the model's input '{}'", name));
    feeds[value] = given->second.cast(probe.graph.type(value).dtype);
  }
  // Looked up here once more, where it is known which input an id comes from.
  for (const auto& [name, value] : probe.inputs) {
    std::vector<Value> picked;
    for (const PickedRows& one : rows_picked_by(probe.graph, value)) picked.push_back(one.rows);
    if (picked.empty()) continue;
    try {
      run(probe.graph, feeds, {.outputs = picked});
    } catch (const InvalidInput& error) {
      throw InvalidInput(fmt::format("the input '{}': {}", name, error.what()));
    }
  }
  return feeds;
}

}  // namespace whyformer
