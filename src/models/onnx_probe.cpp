#include "models/onnx_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "formats/onnx/node_scope.h"
#include "formats/onnx/rewrites/rewrite.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kTokens = 8;   // of the first sequence; every other gets a length of its own
constexpr int64_t kPixels = 224;
constexpr int64_t kChannels = 3;

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

bool is_past(const onnx::InputInfo& input) {
  return has(input.name, "past") || has(input.name, "cache");
}

// Lengths for axes of any length, the same for axes that the file gives the same name.
class Lengths {
 public:
  explicit Lengths(const std::map<std::string, Shape, std::less<>>& given) : given_(given) {}

  Shape of(const onnx::InputInfo& input) {
    if (const auto found = given_.find(input.name); found != given_.end()) return found->second;
    Shape shape;
    const bool picture = onnx::is_float(input.type) && input.shape.size() == 4 && !is_past(input);
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      int64_t length = input.shape[axis];
      if (length < 0 && axis == 0) length = 1;
      if (length < 0 && picture) length = axis == 1 ? kChannels : kPixels;
      if (length < 0 && is_past(input)) length = 0;
      if (length < 0) length = sequence(input, axis);
      shape.push_back(length);
    }
    return shape;
  }

 private:
  // Sequences of different inputs differ in length, so that their axes cannot be confused; a mask goes
  // with its ids.
  int64_t sequence(const onnx::InputInfo& input, size_t axis) {
    std::string key = axis < input.axis_names.size() ? input.axis_names[axis] : "";
    const bool generic = key.empty() || has(key, "+") || has(key, "seq") || has(key, "unk") ||
                         has(key, "dynamic") || has(key, "axes");
    if (generic) key = has(input.name, "encoder") && !has(input.name, "decoder") ? "encoder"
                       : has(input.name, "decoder")                             ? "decoder"
                       : onnx::is_float(input.type)                             ? input.name
                                                                                : "tokens";
    const auto [entry, is_new] = lengths_.try_emplace(key, kTokens + lengths_.size());
    return entry->second;
  }

  const std::map<std::string, Shape, std::less<>>& given_;
  std::map<std::string, int64_t> lengths_;
};

// Masks show everything, flags are off, positions count, caches are empty; the rest is explained.
onnx::InputBinding binding_for(const onnx::InputInfo& input, const Shape& shape) {
  onnx::InputBinding binding{shape, std::nullopt, InputRole::kExplained};
  const auto filled = [&](double value) {
    Tensor tensor = Tensor::empty(shape, onnx::held_as(input.type, DType::kFloat32));
    tensor.fill(value);
    return tensor;
  };
  if (has(input.name, "mask")) {
    binding.value = filled(1);
  } else if (input.type == onnx::ElementType::kBool || is_past(input)) {
    binding.value = filled(0);
  } else if (has(input.name, "position") && !onnx::is_float(input.type)) {
    Tensor positions = filled(0);
    const int64_t length = shape.empty() ? 1 : std::max<int64_t>(shape.back(), 1);
    for (int64_t i = 0; i < positions.size(); ++i) {
      positions.mutable_data<int64_t>()[i] = i % length;
    }
    binding.value = positions;
  } else if (has(input.name, "type") || has(input.name, "segment")) {
    binding.role = InputRole::kGiven;
  }
  return binding;
}

std::string shapes_text(const std::map<std::string, Shape, std::less<>>& shapes) {
  std::string text;
  for (const auto& [name, shape] : shapes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, to_string(shape));
  }
  return text;
}

onnx::BuiltGraph build(const onnx::OnnxModel& model, const onnx::BuildRequest& request,
                       const std::map<std::string, Shape, std::less<>>& shapes) {
  try {
    return model.build(request);
  } catch (const onnx::NeedsValue&) {
    throw;
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("the ONNX file does not take inputs of {}: {}; give the right "
                                   "lengths with --shape NAME=1,3,224,224",
                                   shapes_text(shapes), error.what()));
  }
}

// Logits, if the file has them, else its first output.
std::string main_output_of(const onnx::OnnxFile& file) {
  for (const onnx::InputInfo& output : file.graph.outputs) {
    if (has(output.name, "logits")) return output.name;
  }
  return file.graph.outputs[0].name;
}

}  // namespace

OnnxProbe probe_onnx(const std::filesystem::path& path,
                     const std::map<std::string, Shape, std::less<>>& shapes) {
  const onnx::OnnxModel model(onnx::read_onnx(path));
  const onnx::OnnxFile& file = model.file();
  if (file.graph.outputs.empty()) throw UnsupportedModel("the ONNX file has no outputs");
  for (const auto& [name, shape] : shapes) {
    const auto same = [&](const onnx::InputInfo& input) { return input.name == name; };
    if (std::none_of(file.graph.inputs.begin(), file.graph.inputs.end(), same)) {
      throw InvalidInput(fmt::format("the ONNX file has no input '{}'", name));
    }
  }
  OnnxProbe probe;
  onnx::BuildRequest request;
  Lengths lengths(shapes);
  for (const onnx::InputInfo& input : file.graph.inputs) {
    const Shape shape = lengths.of(input);
    probe.shapes[input.name] = shape;
    request.inputs[input.name] = binding_for(input, shape);
  }
  for (const onnx::InputInfo& output : file.graph.outputs) request.outputs.push_back(output.name);
  const onnx::BuiltGraph built = build(model, request, probe.shapes);
  std::vector<Value> wanted;
  for (const std::string& name : request.outputs) wanted.push_back(built.values.at(name));
  const auto share = [&](const Tensor& weight, const Tensor& bias) {
    return model.linear_weights(weight, bias);
  };
  onnx::Rewritten rewritten = onnx::rewrite(built.graph, wanted, 1, share);
  for (const std::string& name : request.outputs) {
    probe.outputs[name] = rewritten.new_value[built.values.at(name).id];
  }
  probe.graph = std::move(rewritten.graph);
  probe.main_output = main_output_of(file);
  probe.found = discover(probe.graph, probe.outputs.at(probe.main_output));
  probe.file = file;
  return probe;
}

}  // namespace whyformer
