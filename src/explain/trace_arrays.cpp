#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "explain/describe.h"
#include "formats/weights.h"
#include "graph/walk_back.h"
#include "models/onnx_probe.h"
#include "whyformer/arrays.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// An array of the file as the engine holds it: floats of 32 bits or integers of 64.
Tensor tensor_from(const StoredTensor& stored, const std::string& name) {
  switch (stored.type) {
    case WeightType::kF64:
    case WeightType::kF32:
    case WeightType::kF16:
    case WeightType::kBF16: {
      Tensor tensor = Tensor::empty(stored.shape, DType::kFloat32);
      to_float32(stored, tensor.mutable_data<float>());
      return tensor;
    }
    default: break;
  }
  Tensor tensor = Tensor::empty(stored.shape, DType::kInt64);
  int64_t* out = tensor.mutable_data<int64_t>();
  const auto convert = [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      T element;
      std::memcpy(&element, stored.data.view.data() + i * sizeof(T), sizeof(T));
      out[i] = static_cast<int64_t>(element);
    }
  };
  switch (stored.type) {
    case WeightType::kI64: convert(int64_t{}); break;
    case WeightType::kI32: convert(int32_t{}); break;
    case WeightType::kI8: convert(int8_t{}); break;
    case WeightType::kU8:
    case WeightType::kBool: convert(uint8_t{}); break;
    default: throw InvalidInput(fmt::format("the array '{}' has a type that no input takes", name));
  }
  return tensor;
}

std::map<std::string, Tensor, std::less<>> read_arrays(const std::filesystem::path& path) {
  std::map<std::string, Tensor, std::less<>> arrays;
  for (const auto& [name, stored] : read_safetensors(map_file(path), path.filename().string())) {
    arrays[name] = tensor_from(stored, name);
  }
  return arrays;
}

// The target's position in the output, and its indices filled in.
int64_t find_target(const Tensor& output, const std::string& name, std::vector<int64_t>& indices) {
  if (indices.empty()) {
    const std::vector<double> numbers = output.to_doubles();
    int64_t at = std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
    const int64_t best = at;
    for (int axis = output.rank() - 1; axis >= 0; --axis) {
      indices.insert(indices.begin(), at % output.dim(axis));
      at /= output.dim(axis);
    }
    return best;
  }
  int64_t at = 0;
  bool inside = static_cast<int>(indices.size()) == output.rank();
  for (int axis = 0; inside && axis < output.rank(); ++axis) {
    inside = indices[axis] >= 0 && indices[axis] < output.dim(axis);
    at = at * output.dim(axis) + indices[axis];
  }
  if (!inside) {
    throw InvalidInput(fmt::format("the output '{}' has the shape {}: there is no element {}", name,
                                   to_string(output.shape()), fmt::join(indices, ",")));
  }
  return at;
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
      floats.push_back({name, tensor.shape(),
                        {tensor.data<float>(), static_cast<size_t>(tensor.size())}});
    }
    return write_safetensors(floats);
  }

 private:
  std::vector<std::pair<std::string, Tensor>> tensors_;
};

}  // namespace

ArrayTrace trace_arrays(const std::filesystem::path& model, const std::filesystem::path& inputs,
                        const ArrayTarget& target) {
  const auto arrays = read_arrays(inputs);
  const OnnxProbe probe = probe_onnx(model, arrays);
  ArrayTrace result;
  result.info = describe(probe, model);
  result.output = target.output.empty() ? probe.main_output : target.output;
  if (!probe.outputs.contains(result.output)) {
    throw InvalidInput(fmt::format("the model has no output '{}'", result.output));
  }
  const Value from = probe.outputs.at(result.output);
  Feeds feeds;
  for (const auto& [name, value] : probe.inputs) {
    const auto given = arrays.find(name);
    if (given == arrays.end()) {
      throw InvalidInput(fmt::format("'{}' has no array for the model's input '{}'",
                                     inputs.string(), name));
    }
    feeds[value] = given->second.cast(probe.graph.type(value).dtype);
  }
  std::vector<Value> maps, wanted;
  for (const AttentionSite& site : probe.found.sites) maps.push_back(site.attention);
  std::vector<Value> kept = maps;
  for (const auto& [name, value] : probe.outputs) kept.push_back(value);
  const Pass pass = run(probe.graph, feeds, {Keep::kGradients, kept});
  result.indices = target.indices;
  const int64_t at = find_target(pass[from], result.output, result.indices);
  result.value = pass[from].to_doubles()[at];
  Tensor seed = Tensor::zeros(pass[from].shape(), DType::kFloat32);
  seed.mutable_data<float>()[at] = 1;
  wanted = maps;
  for (const auto& [name, value] : probe.inputs) {
    if (probe.graph.type(value).dtype != DType::kInt64) wanted.push_back(value);
  }
  const auto gradients = walk_back(probe.graph, pass, from, seed, gradient_rule(), wanted);
  Collected collected;
  for (size_t site = 0; site < maps.size(); ++site) {
    collected.add_map(fmt::format("attention.{}", site), pass[maps[site]]);
    collected.add_map(fmt::format("attention_gradient.{}", site), gradients.at(maps[site]));
  }
  for (const auto& [name, value] : probe.outputs) collected.add("output." + name, pass[value]);
  for (const auto& [name, value] : probe.inputs) {
    if (gradients.contains(value)) collected.add("input_gradient." + name, gradients.at(value));
  }
  result.safetensors = collected.bytes();
  return result;
}

}  // namespace whyformer
