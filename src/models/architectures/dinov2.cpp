#include <fmt/format.h>

#include "models/architectures/picture_encoder.h"
#include "ops/arithmetic.h"

namespace whyformer {
namespace {

PreNormLayer dinov2_layer(const std::string& base, const Config& config) {
  PreNormLayer layer = vit_layer(base, config);
  layer.norm_before = base + "norm1";
  layer.norm_after = base + "norm2";
  layer.inner = base + "mlp.fc1";
  layer.outer = base + "mlp.fc2";
  layer.output_scale = base + "layer_scale1.lambda1";
  layer.outer_scale = base + "layer_scale2.lambda1";
  return layer;
}

// x + outer(silu(gate(norm(x))) · up(norm(x))); files hold gate and up as one matrix.
Value gated_feed_forward(EncoderBuilder& build, Value x, const std::string& base,
                         const PreNormLayer& layer, const LayerSettings& settings) {
  GraphBuilder& graph = build.graph();
  // Two thirds of the usual width, rounded up to a multiple of 8.
  const int64_t inner = (settings.inner * 2 / 3 + 7) / 8 * 8;
  const std::string name = base + "mlp.weights_in";
  const Value normed = build.norm(x, layer.norm_after, settings.epsilon);
  Value gate, up;
  if (build.checkpoint().has(name + ".weight")) {
    const Value both = build.linear(normed, name, 2 * inner);
    gate = slice(graph, both, 2, 0, inner, name + "/gate");
    up = slice(graph, both, 2, inner, inner, name + "/up");
  } else {
    gate = build.linear(normed, base + "mlp.gate_proj", inner);
    up = build.linear(normed, base + "mlp.up_proj", inner);
  }
  const Value gated = binary(graph, build.activate(gate, "silu", name + "/act"), up,
                             BinaryFunction::kMultiply, name + "/gated");
  const Value outer =
      build.linear(gated, base + "mlp.weights_out", settings.width, {.scale = layer.outer_scale});
  return add(graph, outer, x, base + "mlp/add");
}

PictureOutputs encode(EncoderBuilder& build, Value pixels) {
  const Config& config = build.config();
  LayerSettings settings = layer_settings(config, 1e-6);
  settings.inner =
      static_cast<int64_t>(static_cast<double>(settings.width) * config.number_or("mlp_ratio", 4));
  const std::string base = build.prefix() + "embeddings.";
  PictureOutputs outputs = embed_patches(
      build, pixels,
      {.projection = base + "patch_embeddings.projection",
       .width = settings.width,
       .patch = config.pair_or("patch_size", 14),
       .special = {build.parameter(base + "cls_token", {1, 1, settings.width})},
       .positions =
           build.parameter(base + "position_embeddings", {1, -1, settings.width}).select(0, 0)});
  const bool gated = config.flag_or("use_swiglu_ffn", false);
  Value x = outputs.layers_input;
  for (int64_t index = 0; index < settings.layers; ++index) {
    const std::string name = fmt::format("{}encoder.layer.{}.", build.prefix(), index);
    const PreNormLayer layer = dinov2_layer(name, config);
    x = attend(build, x, layer, settings, {});
    x = gated ? gated_feed_forward(build, x, name, layer, settings)
              : feed_forward(build, x, layer, settings);
  }
  outputs.hidden = build.norm(x, build.prefix() + "layernorm", settings.epsilon);
  return outputs;
}

// The class token beside the mean of the patches.
Value classify(EncoderBuilder& build, const PictureOutputs& encoded, int64_t labels) {
  const Value both = concat(build.graph(), first_token(build, encoded),
                            mean_of_patches(build, encoded), 1, "class_and_patches");
  return build.linear(both, "classifier", labels);
}

constexpr std::array kRenamings{Renaming{"attention.q_proj.", "attention.attention.query."},
                                Renaming{"attention.k_proj.", "attention.attention.key."},
                                Renaming{"attention.v_proj.", "attention.attention.value."},
                                Renaming{"attention.o_proj.", "attention.output.dense."},
                                Renaming{"mlp.down_proj.", "mlp.weights_out."}};

}  // namespace

const PictureArchitecture kDinoV2{"dinov2", "dinov2.", {"classifier.weight"}, encode, first_token,
                                  classify, kRenamings};

}  // namespace whyformer
