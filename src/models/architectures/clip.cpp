#include "models/architectures/clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "discovery/restrict_rows.h"
#include "graph/pass.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr double kEpsilon = 1e-5;
const std::string kTextEmbeddings = "text_model.embeddings.";

PreNormLayer clip_layer(const std::string& base) {
  const std::string self = base + "self_attn";
  return {.attention = {self + ".q_proj", self + ".k_proj", self + ".v_proj", self},
          .output = self + ".out_proj",
          .norm_before = base + "layer_norm1",
          .norm_after = base + "layer_norm2",
          .inner = base + "mlp.fc1",
          .outer = base + "mlp.fc2"};
}

Value clip_layers(EncoderBuilder& build, Value x, const std::string& prefix,
                  const LayerSettings& settings, Value mask) {
  for (int64_t index = 0; index < settings.layers; ++index) {
    const PreNormLayer layer = clip_layer(fmt::format("{}encoder.layers.{}.", prefix, index));
    x = feed_forward(build, attend(build, x, layer, settings, mask), layer, settings);
  }
  return x;
}

PictureOutputs encode(EncoderBuilder& build, Value pixels) {
  const Config& config = build.config();
  const LayerSettings settings = layer_settings(config, kEpsilon, "quick_gelu");
  const std::string base = build.prefix() + "embeddings.";
  PictureOutputs outputs = embed_patches(
      build, pixels,
      {.projection = base + "patch_embedding",
       .bias = Bias::kNo,
       .width = settings.width,
       .patch = config.pair_or("patch_size", 32),
       .special = {build.parameter(base + "class_embedding", {settings.width})},
       .positions = build.parameter(base + "position_embedding.weight", {-1, settings.width})});
  outputs.layers_input =
      build.norm(outputs.embeddings, build.prefix() + "pre_layrnorm", settings.epsilon);
  outputs.hidden = clip_layers(build, outputs.layers_input, build.prefix(), settings, {});
  return outputs;
}

Value embed(EncoderBuilder& build, const PictureOutputs& encoded) {
  const Value pooled = build.norm(first_token(build, encoded), build.prefix() + "post_layernorm",
                                  build.config().layer_norm_epsilon(kEpsilon));
  if (!build.checkpoint().has("visual_projection.weight")) return pooled;
  const int64_t width = build.parameter("visual_projection.weight", {-1, -1}).dim(0);
  return build.linear(pooled, "visual_projection", width, {.bias = Bias::kNo});
}

// CLIPForImageClassification reads the patches without the last norm.
Value classify(EncoderBuilder& build, const PictureOutputs& encoded, int64_t labels) {
  return build.linear(mean_of_patches(build, encoded), "classifier", labels);
}

// Each token sees itself and those before it: [1, 1, tokens, tokens].
Tensor causal_mask(int64_t tokens, DType type) {
  Tensor mask = Tensor::zeros({1, 1, tokens, tokens}, DType::kFloat64);
  double* out = mask.mutable_data<double>();
  for (int64_t i = 0; i < tokens; ++i) {
    for (int64_t j = i + 1; j < tokens; ++j) {
      out[i * tokens + j] = -std::numeric_limits<double>::infinity();
    }
  }
  return mask.cast(type);
}

}  // namespace

const PictureArchitecture kClip{
    "clip", "vision_model.", {"classifier.weight"}, encode, embed, classify, {}, false};
const PictureArchitecture kClipVision{"clip_vision_model",
                                      "vision_model.",
                                      {"classifier.weight"},
                                      encode,
                                      embed,
                                      classify,
                                      {},
                                      false};

ClipTexts::ClipTexts(const Config& config)
    : config_(config.part("text_config", "text_config_dict")) {}

int64_t ClipTexts::tokens_read(const std::vector<int64_t>& ids) const {
  const int64_t end = config_.id_or("eos_token_id", 49407);
  // Early configs say 2 whatever the end is; there it is the largest id.
  const auto found =
      end == 2 ? std::max_element(ids.begin(), ids.end()) : std::find(ids.begin(), ids.end(), end);
  if (found == ids.end()) return 1;  // as transformers does
  return found - ids.begin() + 1;
}

int64_t ClipTexts::most_tokens(const Checkpoint& checkpoint) const {
  check_vocabulary(
      config_,
      checkpoint.tensor(kTextEmbeddings + "token_embedding.weight", {-1, -1}, DType::kFloat32)
          .dim(0));
  return checkpoint.tensor(kTextEmbeddings + "position_embedding.weight", {-1, -1}, DType::kFloat32)
      .dim(0);
}

ClipTextOutputs ClipTexts::encode(GraphBuilder& graph, const Checkpoint& checkpoint, Value ids,
                                  Value mask, DType type) const {
  const LayerSettings settings = settings_of_texts();
  EncoderBuilder build(graph, checkpoint, config_, "text_model.", type);
  const int64_t tokens = graph.shape(ids)[1];
  const Tensor positions =
      build.parameter(kTextEmbeddings + "position_embedding.weight", {-1, settings.width});
  if (tokens < 1 || tokens > positions.dim(0)) {
    throw InvalidInput(fmt::format("the text has {} tokens; this CLIP model reads 1 to {}", tokens,
                                   positions.dim(0)));
  }
  ClipTextOutputs outputs;
  outputs.word_embeddings =
      build.table(ids, kTextEmbeddings + "token_embedding", -1, settings.width);
  const Tensor first_positions = positions.slice(0, 0, tokens).reshape({1, tokens, settings.width});
  outputs.embeddings = add(graph, outputs.word_embeddings,
                           graph.constant(first_positions, kTextEmbeddings + "positions"),
                           kTextEmbeddings + "add_positions");
  Value hidden = graph.constant(causal_mask(tokens, type), "causal_mask");
  if (mask.valid()) hidden = add(graph, hidden, mask, "causal_mask/add");
  const Value x = clip_layers(build, outputs.embeddings, "text_model.", settings, hidden);
  const Value pooled = build.norm(build.row(x, tokens - 1, "last_token"),
                                  "text_model.final_layer_norm", settings.epsilon);
  const int64_t width = build.parameter("text_projection.weight", {-1, -1}).dim(0);
  outputs.vector = build.linear(pooled, "text_projection", width, {.bias = Bias::kNo});
  return outputs;
}

Tensor ClipTexts::embedding(const Checkpoint& checkpoint, std::vector<int64_t> ids,
                            DType type) const {
  const auto given = static_cast<int64_t>(ids.size());
  if (const int64_t most = most_tokens(checkpoint); ids.empty() || given > most) {
    throw InvalidInput(
        fmt::format("the text has {} tokens; this CLIP model reads 1 to {}", given, most));
  }
  const int64_t tokens = tokens_read(ids);
  ids.resize(tokens);
  GraphBuilder graph;
  const Value input = graph.input("input_ids", {1, tokens}, DType::kInt64);
  const Value output = encode(graph, checkpoint, input, {}, type).vector;
  const Restricted restricted = restrict_rows(graph.finish(), output, {});
  const Value read = restricted.new_value[output.id];
  const Feeds feeds{{restricted.new_value[input.id],
                     Tensor::of<int64_t>({1, tokens}, std::span<const int64_t>(ids))}};
  return run(restricted.graph, feeds, {.outputs = {read}})[read].select(0, 0).contiguous();
}

LayerSettings ClipTexts::settings_of_texts() const {
  LayerSettings settings = layer_settings(config_, kEpsilon, "quick_gelu");
  settings.width = config_.size_or("hidden_size", 512);
  settings.inner = config_.size_or("intermediate_size", 2048);
  settings.heads = config_.size_or("num_attention_heads", 8);
  return settings;
}

}  // namespace whyformer
