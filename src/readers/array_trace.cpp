// Runs of a model given arrays: every output, and every attention map with its gradient.
#include <fmt/format.h>

#include "graph/walk_back.h"
#include "readers/array_element.h"
#include "readers/array_file.h"
#include "readers/array_reader.h"
#include "readers/describe.h"

namespace whyformer {
namespace {

TracedArray traced(const std::string& name, const Tensor& tensor) {
  const Tensor floats = tensor.cast(DType::kFloat32).contiguous();
  return {name, floats.shape(),
          std::shared_ptr<const float[]>(floats.storage(), floats.data<float>())};
}

// [inputs or windows, heads, queries, keys].
AttentionMap map_of_site(const std::string& name, const Tensor& maps) {
  const Tensor floats = maps.cast(DType::kFloat32).contiguous();
  AttentionMap map{name, floats.dim(1), floats.dim(2), floats.dim(3),
                   std::shared_ptr<const float[]>(floats.storage(), floats.data<float>())};
  map.stack = floats.dim(0);
  return map;
}

}  // namespace

std::vector<std::string> ArrayReader::outputs() const {
  std::vector<std::string> names;
  for (const auto& output : arrays_.file().graph.outputs) names.push_back(output.name);
  return names;
}

ModelInfo ArrayReader::info(const ArrayViews& views) const {
  return describe(*arrays_.probe(tensors_of(views), {}), arrays_.document().path);
}

std::map<std::string, OutputArray, std::less<>> ArrayReader::run(const ArrayViews& views) const {
  const NamedArrays arrays = tensors_of(views);
  const auto probe = arrays_.probe(arrays, {});
  std::vector<Value> wanted;
  for (const auto& [name, value] : probe->outputs) wanted.push_back(value);
  const Feeds feeds = OnnxArrays::feeds(*probe, OnnxArrays::with_batch_in_front(*probe, arrays));
  const Pass pass = whyformer::run(probe->graph, feeds, {.outputs = wanted});
  std::map<std::string, OutputArray, std::less<>> outputs;
  for (const auto& [name, value] : probe->outputs) {
    outputs[name] = {pass[value].shape(), pass[value].to_doubles()};
  }
  return outputs;
}

std::optional<Trace> ArrayReader::trace(const InputValue& given, const Question& question) const {
  const NamedArrays arrays = tensors_of(std::get<ArrayViews>(given));
  OutputElement target = element_asked(question.target);
  const auto probe = arrays_.probe(arrays, {});
  target.output = arrays_.output_named(target.output);
  const Value from = probe->outputs.at(target.output);
  std::vector<Value> wanted;
  for (const AttentionSite& site : probe->found.sites) wanted.push_back(site.attention);
  std::vector<Value> kept = wanted;
  for (const auto& [name, value] : probe->outputs) kept.push_back(value);
  const Feeds feeds = OnnxArrays::feeds(*probe, OnnxArrays::with_batch_in_front(*probe, arrays));
  const Pass pass = whyformer::run(probe->graph, feeds, {Keep::kGradients, kept});
  check_has_elements(target.output, pass[from].shape());
  if (target.indices.empty()) target.indices = largest_element(pass[from]);
  const int64_t at = position_of(target.indices, pass[from].shape(), target.output);
  const double explained = pass[from].to_doubles()[at];
  check_finite(explained);
  Tensor seed = Tensor::zeros(pass[from].shape(), DType::kFloat32);
  seed.mutable_data<float>()[at] = 1;
  for (const auto& [name, value] : probe->inputs) {
    if (probe->graph.type(value).dtype != DType::kInt64) wanted.push_back(value);
  }
  const auto gradients = walk_back(probe->graph, pass, from, seed, gradient_rule(), wanted);
  Trace trace;
  for (const AttentionSite& site : probe->found.sites) {
    trace.attention.push_back(map_of_site(site.name, pass[site.attention]));
    trace.attention_gradient.push_back(map_of_site(site.name, gradients.at(site.attention)));
  }
  for (const auto& [name, value] : probe->outputs) {
    trace.arrays.push_back(traced("output." + name, pass[value]));
  }
  for (const auto& [name, value] : probe->inputs) {
    const auto gradient = gradients.find(value);
    if (gradient == gradients.end()) continue;
    trace.arrays.push_back(
        traced("input_gradient." + name, as_in_file(gradient->second, probe->batch_axis(name))));
  }
  ModelInfo info = describe(*probe, arrays_.document().path);
  trace.streams = std::move(info.streams);
  trace.notes = std::move(info.notes);
  const std::string label = label_of(target);
  trace.output = {"value", {explained}, {label}};
  trace.target = {0, label, explained, {}, target};
  return trace;
}

}  // namespace whyformer
