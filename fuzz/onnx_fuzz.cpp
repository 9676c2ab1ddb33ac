// Reads the bytes as an ONNX file and, if they load, builds the model for small inputs and runs it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "discovery/attention_sites.h"
#include "graph/pass.h"
#include "models/batch_axis.h"
#include "onnx/onnx_model.h"
#include "onnx/rewrites/rewrite.h"
#include "whyformer/error.h"
#include "whyformer/threads.h"

namespace whyformer::onnx {
namespace {

constexpr int64_t kOpenAxis = 2;  // for axes of any length
// Of the inputs, and of all values: so that each run is short.
constexpr int64_t kMostGiven = 1 << 12, kMostComputed = 1 << 18;

enum class FloatInputs { kFed, kKnown };

Tensor small_numbers(const Shape& shape, DType dtype) {
  if (dtype == DType::kInt64) return Tensor::zeros(shape, dtype);
  std::vector<double> numbers(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 7) / 4 - 0.5;
  return Tensor::of<double>(shape, std::span<const double>(numbers)).cast(dtype);
}

BuildRequest request_for(const OnnxFile& file, FloatInputs floats) {
  BuildRequest request;
  for (const DeclaredValue& input : file.graph.inputs) {
    Shape shape = input.shape;
    int64_t count = 1;
    for (int64_t& length : shape) {
      length = length < 0 ? kOpenAxis : length;
      if (length > kMostGiven || count > kMostGiven)
        throw InvalidInput("an input is too large to try");
      count *= std::max<int64_t>(length, 1);
    }
    InputBinding binding{shape, std::nullopt, InputRole::kExplained};
    const bool fed = floats == FloatInputs::kFed && is_float(input.type);
    if (!fed) binding.value = small_numbers(shape, held_as(input.type, request.floats));
    request.inputs[input.name] = binding;
  }
  for (const DeclaredValue& output : file.graph.outputs) request.outputs.push_back(output.name);
  return request;
}

Feeds feeds_for(const Graph& graph) {
  Feeds feeds;
  for (const Value input : graph.inputs()) {
    feeds[input] = small_numbers(graph.shape(input), graph.type(input).dtype);
  }
  return feeds;
}

bool is_small(const Graph& graph) {
  int64_t count = 0;
  for (int id = 0; id < graph.value_count(); ++id) {
    count += element_count(graph.shape(Value{id}));
    if (count > kMostComputed) return false;
  }
  return true;
}

// As models are loaded: built, the batch put in front, rewritten, searched for attention.
void build_and_run(const OnnxModel& model, FloatInputs floats) {
  const BuildRequest request = request_for(model.file(), floats);
  BuiltGraph built = model.build(request);
  const BatchPlaces places = find_batches(built);
  built = with_batch_in_front(std::move(built), places);
  std::vector<Value> outputs;
  for (const std::string& name : request.outputs) outputs.push_back(built.values.at(name));
  if (outputs.empty() || !is_small(built.graph)) return;
  run(built.graph, feeds_for(built.graph), {.outputs = outputs});
  const auto share = [&](const Tensor& weight, const Tensor& bias) {
    return model.linear_weights(weight, bias);
  };
  const Rewritten rewritten = rewrite(built.graph, outputs, kOpenAxis, share);
  for (Value& output : outputs) output = rewritten.new_value[output.id];
  run(rewritten.graph, feeds_for(rewritten.graph), {.outputs = outputs});
  discover(rewritten.graph, outputs[0]);
}

// What may be thrown at a file that cannot be run; anything else is a mistake of ours.
template <typename Use>
void allow_refusals(const Use& use) {
  try {
    use();
  } catch (const InvalidInput&) {
  } catch (const UnsupportedModel&) {
  } catch (const FileError&) {
  }
}

}  // namespace
}  // namespace whyformer::onnx

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whyformer;
  set_threads(1);
  const FileLookup no_files = [](std::string_view) { return std::nullopt; };
  onnx::allow_refusals([&] {
    const std::string copy(reinterpret_cast<const char*>(data), size);
    const onnx::OnnxModel model(onnx::read_onnx(bytes_of(copy), no_files));
    for (const onnx::FloatInputs floats : {onnx::FloatInputs::kFed, onnx::FloatInputs::kKnown}) {
      onnx::allow_refusals([&] { onnx::build_and_run(model, floats); });
    }
  });
  return 0;
}
