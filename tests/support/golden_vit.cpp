#include "tests/support/golden_vit.h"

#include <cmath>
#include <cstring>

#include "ops/ops.h"
#include "ops/pictures.h"

namespace whyformer {
namespace {

class Builder {
 public:
  Builder(const StoredTensors& weights, const nlohmann::json& config, DType dtype)
      : weights_(weights), config_(config), dtype_(dtype) {}

  Tensor tensor(const std::string& name) const {
    const StoredTensor& stored = weights_.at(name);
    std::vector<float> values(stored.count());
    std::memcpy(values.data(), stored.data.view.data(), values.size() * sizeof(float));
    return Tensor::of<float>(stored.shape, std::span<const float>(values)).cast(dtype_);
  }

  Value given(const std::string& name, Feeds& feeds) {
    const Tensor value = tensor(name);
    const Value input = graph_.input(name, value.shape(), dtype_, InputRole::kGiven);
    feeds[input] = value;
    return input;
  }

  std::shared_ptr<const LinearWeights> weights_of(const std::string& name) const {
    Tensor weight = tensor(name + ".weight");
    weight = weight.reshape({weight.dim(0), weight.size() / weight.dim(0)});
    const std::string bias = name + ".bias";
    return std::make_shared<LinearWeights>(weight,
                                           weights_.contains(bias) ? tensor(bias) : Tensor());
  }

  Value dense(Value x, const std::string& name) {
    return linear(graph_, x, weights_of(name), name);
  }

  Value norm(Value x, const std::string& name) {
    return layer_norm(
        graph_, x,
        {tensor(name + ".weight"), tensor(name + ".bias"), config_["layer_norm_eps"].get<double>()},
        name);
  }

  Value heads(Value x, const std::string& name) {
    const Shape shape = graph_.shape(x);
    const int64_t count = config_["num_attention_heads"];
    const Value split =
        reshape(graph_, dense(x, name), {1, shape[1], count, shape[2] / count}, name);
    return transpose(graph_, split, {0, 2, 1, 3}, name);
  }

  Value attention(Value x, const std::string& base) {
    const Shape shape = graph_.shape(x);
    const std::string self = base + "attention.attention.";
    const Value query = heads(x, self + "query");
    const Value keys = transpose(graph_, heads(x, self + "key"), {0, 1, 3, 2}, self + "turned");
    const Value value = heads(x, self + "value");
    const double scale = 1 / std::sqrt(static_cast<double>(graph_.shape(query)[3]));
    const Value maps =
        softmax(graph_, matmul(graph_, query, keys, self + "scores"), {}, scale, self + "maps");
    const Value context = transpose(graph_, matmul(graph_, maps, value, self + "context"),
                                    {0, 2, 1, 3}, self + "merge");
    return dense(reshape(graph_, context, shape, self + "merge"), base + "attention.output.dense");
  }

  Value layer(Value x, int index) {
    const std::string base = "vit.encoder.layer." + std::to_string(index) + ".";
    x = add(graph_, attention(norm(x, base + "layernorm_before"), base), x, base + "add");
    const Value inner = dense(norm(x, base + "layernorm_after"), base + "intermediate.dense");
    const ActivationFunction function =
        config_["hidden_act"] == "relu" ? ActivationFunction::kRelu : ActivationFunction::kGelu;
    const Value active = activation(graph_, inner, function, base + "act");
    return add(graph_, dense(active, base + "output.dense"), x, base + "add");
  }

  Value embed(Value pixels, Feeds& feeds) {
    const std::string name = "vit.embeddings.patch_embeddings.projection";
    const int64_t size = config_["patch_size"];
    const Value image = convolution(graph_, pixels, weights_of(name),
                                    {.kernel = {size, size}, .strides = {size, size}}, name);
    const Shape shape = graph_.shape(image);
    const Value rows = reshape(graph_, image, {1, shape[1], shape[2] * shape[3]}, "patches");
    const Value patches = transpose(graph_, rows, {0, 2, 1}, "patches");
    const Value tokens =
        concat(graph_, given("vit.embeddings.cls_token", feeds), patches, 1, "cls");
    return add(graph_, tokens, given("vit.embeddings.position_embeddings", feeds), "positions");
  }

  GraphBuilder& graph() { return graph_; }

 private:
  const StoredTensors& weights_;
  const nlohmann::json& config_;
  DType dtype_;
  GraphBuilder graph_;
};

}  // namespace

GoldenVit::GoldenVit(const StoredTensors& weights, const nlohmann::json& config, DType dtype) {
  Builder build(weights, config, dtype);
  const Tensor image = build.tensor("image.pixels");
  pixels = build.graph().input("pixels", image.shape(), dtype);
  feeds[pixels] = image;
  layers_input = build.embed(pixels, feeds);
  Value x = layers_input;
  for (int layer = 0; layer < config["num_hidden_layers"].get<int>(); ++layer) {
    x = build.layer(x, layer);
  }
  const Value first = slice(build.graph(), build.norm(x, "vit.layernorm"), 1, 0, 1, "first");
  const Value row = reshape(build.graph(), first, {1, build.graph().shape(first)[2]}, "first");
  output = build.dense(row, "classifier");
  graph = build.graph().finish();
  found = discover(graph, output);
}

}  // namespace whyformer
