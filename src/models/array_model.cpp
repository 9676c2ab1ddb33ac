#include "models/array_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/picked_rows.h"
#include "models/text_model.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kLongestAnswer = 4096;  // perturbed inputs keep all of it
constexpr size_t kMostGraphs = 16;  // lengths vary; old graphs are dropped

std::filesystem::path file_of(const std::filesystem::path& path) {
  const std::filesystem::path file = onnx_file_of(path);
  if (!file.empty()) return file;
  throw FileError(fmt::format("arrays go into an ONNX file, and '{}' is none and holds none: give the file itself",
                              path.string()));
}

}  // namespace

OnnxArrayModel::OnnxArrayModel(const std::filesystem::path& path)
    : path_(file_of(path)), config_(config_of(files_of_model(path_))), model_(onnx::read_onnx(path_)) {
  if (file().graph.outputs.empty()) throw UnsupportedModel("the ONNX file has no outputs");
}

std::string OnnxArrayModel::output_named(const std::string& asked) const {
  if (asked.empty()) return main_output_of(file());
  std::vector<std::string> names;
  for (const auto& output : file().graph.outputs) {
    if (output.name == asked) return asked;
    names.push_back(output.name);
  }
  throw InvalidInput(fmt::format("the model has no output '{}'; its outputs are {}", asked, fmt::join(names, ", ")));
}

// Shapes, and the bytes of what a graph has built in. Integers are among them, for files whose shapes need them.
std::string OnnxArrayModel::key_of(const NamedArrays& arrays, const ProbeRequest& request) const {
  std::string key = fmt::format("{} {}", static_cast<int>(request.floats), fmt::join(request.outputs, " "));
  for (const onnx::InputInfo& input : file().graph.inputs) {
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

std::shared_ptr<const OnnxProbe> OnnxArrayModel::probe(const NamedArrays& arrays, const ProbeRequest& request) const {
  const std::string key = key_of(arrays, request);
  {
    const std::lock_guard lock(mutex_);
    const auto known = probes_.find(key);
    if (known != probes_.end()) return known->second;
  }
  auto built = std::make_shared<const OnnxProbe>(probe_onnx(model_, config_, arrays, request));
  // Built for the very integers that were given: of no use to others.
  for (const onnx::InputInfo& input : file().graph.inputs) {
    const bool whole = !onnx::is_float(input.type) && !is_bound_by_value(input);
    if (whole && arrays.contains(input.name) && !built->inputs.contains(input.name)) return built;
  }
  const std::lock_guard lock(mutex_);
  if (probes_.size() >= kMostGraphs) probes_.clear();
  return probes_.try_emplace(key, std::move(built)).first->second;
}

std::shared_ptr<const ElementGraph> OnnxArrayModel::graph(const NamedArrays& arrays, const std::string& output,
                                                          const std::vector<int64_t>& indices, DType dtype) const {
  const ProbeRequest request{{output}, dtype};
  auto built = std::make_shared<ElementGraph>();
  built->probe = probe(arrays, request);
  const std::string key = fmt::format("{} {} ", static_cast<const void*>(built->probe.get()), fmt::join(indices, ","));
  {
    const std::lock_guard lock(mutex_);
    const auto known = graphs_.find(key);
    if (known != graphs_.end() && known->second->probe == built->probe) return known->second;
  }
  GraphBuilder graph(built->probe->graph, Folding::kNo);
  Value element = built->probe->outputs.at(output);
  const Shape whole = graph.shape(element);
  const bool by_token = built->probe->found.read_out.kind == ReadOut::Kind::kEach;
  if (whole.size() == 2 && whole[0] == 1 && whole[1] <= kLongestAnswer && !by_token) {
    built->target = indices[1];
    built->output = element;
  } else {
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      element = slice(graph, element, static_cast<int>(axis), indices[axis], 1, "element");
    }
    built->output = reshape(graph, element, {1, 1}, "element");
  }
  built->graph = graph.finish();
  built->found = built->probe->found;
  built->embeddings = built->layers_input = built->output;
  const std::lock_guard lock(mutex_);
  if (graphs_.size() >= kMostGraphs) graphs_.clear();
  graphs_[key] = built;
  return built;
}

Feeds OnnxArrayModel::feeds(const OnnxProbe& probe, const NamedArrays& arrays) {
  Feeds feeds;
  for (const auto& [name, value] : probe.inputs) {
    const auto given = arrays.find(name);
    if (given == arrays.end()) throw InvalidInput(fmt::format("there is no array for the model's input '{}'", name));
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
