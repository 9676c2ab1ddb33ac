#include "models/architectures/encoder.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "models/architectures/picture_encoder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

ActivationFunction activation_named(const std::string& name) {
  static const std::map<std::string, ActivationFunction> known{
      {"gelu", ActivationFunction::kGelu},
      {"gelu_new", ActivationFunction::kGeluTanh},
      {"gelu_fast", ActivationFunction::kGeluTanh},
      {"gelu_pytorch_tanh", ActivationFunction::kGeluTanh},
      {"gelu_python", ActivationFunction::kGelu},
      {"relu", ActivationFunction::kRelu},
      {"tanh", ActivationFunction::kTanh},
      {"silu", ActivationFunction::kSilu},
      {"swish", ActivationFunction::kSilu},
      {"sigmoid", ActivationFunction::kSigmoid},
      {"quick_gelu", ActivationFunction::kQuickGelu}};
  const auto found = known.find(name);
  if (found == known.end()) {
    throw UnsupportedModel(fmt::format(
        "config.json asks for the activation '{}'; known are gelu, gelu_new, gelu_fast, "
        "gelu_pytorch_tanh, quick_gelu, relu, tanh, silu, sigmoid",
        name));
  }
  return found->second;
}

constexpr std::array kArchitectures{&kAlbert,  &kBert,    &kDistilBert,
                                    &kElectra, &kRoberta, &kXlmRoberta};

}  // namespace

EncoderBuilder::EncoderBuilder(GraphBuilder& graph, const Checkpoint& checkpoint,
                               const Config& config, std::string prefix, DType type)
    : graph_(graph),
      checkpoint_(checkpoint),
      config_(config),
      prefix_(std::move(prefix)),
      type_(type) {}

Value EncoderBuilder::table(Value ids, const std::string& name, int64_t rows, int64_t width) {
  return embedding(graph_, ids, checkpoint_.tensor(name + ".weight", {rows, width}, type_), name);
}

Value EncoderBuilder::linear(Value x, const std::string& name, int64_t out,
                             const LinearParts& parts) {
  const int64_t in = graph_.shape(x).back();
  return whyformer::linear(graph_, x, checkpoint_.linear(name, out, in, type_, parts), name);
}

Value EncoderBuilder::norm(Value x, const std::string& name, double epsilon) {
  const int64_t width = graph_.shape(x).back();
  return layer_norm(graph_, x, checkpoint_.layer_norm(name, width, epsilon, type_), name);
}

Value EncoderBuilder::activate(Value x, const std::string& function, const std::string& name) {
  return activation(graph_, x, activation_named(function), name);
}

Value EncoderBuilder::row(Value x, int64_t index, const std::string& name) {
  const Shape shape = graph_.shape(x);
  const Value one = slice(graph_, x, 1, index, 1, name);
  return reshape(graph_, one, {shape[0], shape[2]}, name);
}

Value EncoderBuilder::split_heads(Value x, int64_t heads, const std::string& name) {
  const Shape shape = graph_.shape(x);
  const Value split =
      reshape(graph_, x, {shape[0], shape[1], heads, shape[2] / heads}, name + "/heads");
  return transpose(graph_, split, {0, 2, 1, 3}, name + "/heads");
}

Value EncoderBuilder::self_attention(Value x, const AttentionNames& names, int64_t heads,
                                     Value mask) {
  const Shape shape = graph_.shape(x);
  const int64_t width = shape[2];
  if (heads < 1 || width % heads != 0) {
    throw FileError(fmt::format("config.json: {} attention heads do not divide the hidden size {}",
                                heads, width));
  }
  const auto projected = [&](const std::string& name, Bias bias) {
    return split_heads(linear(x, name, width, {.bias = bias}), heads, name);
  };
  const Value query = projected(names.query, names.query_bias);
  const Value key = projected(names.key, names.key_bias);
  const Value value = projected(names.value, names.value_bias);
  const Value keys = transpose(graph_, key, {0, 1, 3, 2}, names.key + "/transposed");
  const Value scores = matmul(graph_, query, keys, names.site + "/scores");
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  const Value attention = softmax(graph_, scores, mask, scale, names.site);
  const Value context = matmul(graph_, attention, value, names.site + "/context");
  const Value merged = transpose(graph_, context, {0, 2, 1, 3}, names.site + "/merge");
  return reshape(graph_, merged, shape, names.site + "/merge");
}

std::span<const Architecture* const> architectures() { return kArchitectures; }

const Architecture& architecture_of(const Config& config) {
  for (const Architecture* known : kArchitectures) {
    if (known->model_type == config.model_type()) return *known;
  }
  std::string names;
  for (const Architecture* known : kArchitectures) {
    names += (names.empty() ? "" : ", ") + std::string(known->model_type);
  }
  if (config.model_type().empty()) {
    throw UnsupportedModel(fmt::format(
        "config.json has no 'model_type', so the architecture is unknown; supported are {}",
        names));
  }
  std::string picture_names;
  for (const PictureArchitecture* known : picture_architectures()) {
    picture_names += (picture_names.empty() ? "" : ", ") + std::string(known->model_type);
  }
  throw UnsupportedModel(
      fmt::format("models of type '{}' are not supported as folders; supported are {} for texts "
                  "and {} for pictures, and every ONNX file: export it",
                  config.model_type(), names, picture_names));
}

}  // namespace whyformer
