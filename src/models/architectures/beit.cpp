#include <fmt/format.h>

#include <algorithm>

#include "models/architectures/picture_encoder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Learned for one grid; transformers stretches the table for others, which changes the distances.
void check_grid(const Config& config, const PatchGrid& grid) {
  const auto [height, width] = config.pair_or("image_size", 224);
  const auto [patch_rows, patch_columns] = config.pair_or("patch_size", 16);
  if (grid.rows == height / patch_rows && grid.columns == width / patch_columns) return;
  throw InvalidInput(fmt::format(
      "this BEiT model has position distances for {}x{} patches, not for {}x{}: give it pictures "
      "of {}x{} pixels",
      height / patch_rows, width / patch_columns, grid.rows, grid.columns, height, width));
}

Tensor bias_from(EncoderBuilder& build, const std::string& owner, const PatchGrid& grid,
                 int64_t heads) {
  check_grid(build.config(), grid);
  const int64_t distances = (2 * grid.rows - 1) * (2 * grid.columns - 1) + 3;
  const Tensor table = build.parameter(owner + ".relative_position_bias_table", {distances, heads});
  return build.checkpoint().derived(owner + "/bias", build.type(), [&] {
    return relative_position_bias(table, grid.rows, grid.columns, ClassToken::kFirst);
  });
}

// What is added to the scores of one layer: its own table, one for all layers, or both.
Value position_bias(EncoderBuilder& build, const std::string& layer, const PatchGrid& grid,
                    int64_t heads) {
  const Config& config = build.config();
  GraphBuilder& graph = build.graph();
  const std::string self = layer + "attention.attention";
  Value bias;
  if (config.flag_or("use_relative_position_bias", false)) {
    // Files have the table inside attention; in memory transformers 5 keeps it beside.
    const std::string beside = layer + "relative_position_bias";
    const bool is_beside = build.checkpoint().has(beside + ".relative_position_bias_table");
    const std::string owner = is_beside ? beside : self + ".relative_position_bias";
    bias = graph.constant(bias_from(build, owner, grid, heads), self + "/bias");
  }
  if (!config.flag_or("use_shared_relative_position_bias", false)) return bias;
  const Value shared = graph.constant(
      bias_from(build, build.prefix() + "encoder.relative_position_bias", grid, heads),
      self + "/shared_bias");
  return bias.valid() ? add(graph, bias, shared, self + "/add_bias") : shared;
}

PictureOutputs encode(EncoderBuilder& build, Value pixels) {
  const Config& config = build.config();
  const LayerSettings settings = layer_settings(config, 1e-12);
  const std::string base = build.prefix() + "embeddings.";
  PatchEmbedding embedding{
      .projection = base + "patch_embeddings.projection",
      .width = settings.width,
      .patch = config.pair_or("patch_size", 16),
      .special = {build.parameter(base + "cls_token", {1, 1, settings.width})}};
  if (config.flag_or("use_absolute_position_embeddings", false)) {
    embedding.positions =
        build.parameter(base + "position_embeddings", {1, -1, settings.width}).select(0, 0);
  }
  refuse_given_tokens(build);
  PictureOutputs outputs = embed_patches(build, pixels, embedding);
  const bool scaled = config.number_or("layer_scale_init_value", 0.1) > 0;
  Value x = outputs.layers_input;
  for (int64_t index = 0; index < settings.layers; ++index) {
    const std::string name = fmt::format("{}encoder.layer.{}.", build.prefix(), index);
    PreNormLayer layer = vit_layer(name, config);
    layer.attention.query_bias = layer.attention.value_bias = Bias::kYes;
    layer.attention.key_bias = Bias::kNo;
    if (scaled) {
      layer.output_scale = name + "lambda_1";
      layer.outer_scale = name + "lambda_2";
    }
    const Value bias = position_bias(build, name, outputs.grid, settings.heads);
    x = feed_forward(build, attend(build, x, layer, settings, bias), layer, settings);
  }
  outputs.hidden = config.flag_or("use_mean_pooling", true)
                       ? x
                       : build.norm(x, build.prefix() + "layernorm", settings.epsilon);
  return outputs;
}

Value pooled(EncoderBuilder& build, const PictureOutputs& encoded) {
  const Config& config = build.config();
  if (!config.flag_or("use_mean_pooling", true)) return first_token(build, encoded);
  return build.norm(mean_of_patches(build, encoded), build.prefix() + "pooler.layernorm",
                    config.layer_norm_epsilon(1e-12));
}

Value classify(EncoderBuilder& build, const PictureOutputs& encoded, int64_t labels) {
  return build.linear(pooled(build, encoded), "classifier", labels);
}

constexpr auto kRenamings = [] {
  std::array<Renaming, kVitRenamings.size() + 1> all{
      Renaming{"shared_position_bias.", "encoder.relative_position_bias."}};
  std::copy(kVitRenamings.begin(), kVitRenamings.end(), all.begin() + 1);
  return all;
}();

}  // namespace

const PictureArchitecture kBeit{"beit",   "beit.",   {"classifier.weight"}, encode, pooled,
                                classify, kRenamings};

}  // namespace whyformer
