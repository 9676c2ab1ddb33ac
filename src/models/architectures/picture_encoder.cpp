#include "models/architectures/picture_encoder.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ops/pictures.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr std::array kArchitectures{&kBeit, &kClip, &kClipVision, &kDeit, &kDinoV2, &kSwin, &kVit};

constexpr int64_t kMostPatches = 1 << 16;  // maps grow with the square

// How far the last patch reaches past the pixels.
int64_t missing_pixels(int64_t pixels, int64_t patch) { return (patch - pixels % patch) % patch; }

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

Value project_patches(EncoderBuilder& build, Value pixels, const PatchEmbedding& embedding,
                      PatchGrid& grid) {
  GraphBuilder& graph = build.graph();
  const Shape picture = graph.shape(pixels);
  const auto [patch_rows, patch_columns] = embedding.patch;
  Window window{.kernel = {patch_rows, patch_columns},
                .strides = {patch_rows, patch_columns},
                .dilations = {1, 1},
                .pads_before = {0, 0},
                .pads_after = {0, 0}};
  if (embedding.pads_pixels) {
    window.pads_after = {missing_pixels(picture[2], patch_rows),
                         missing_pixels(picture[3], patch_columns)};
  }
  grid.first = static_cast<int64_t>(embedding.special.size());
  grid.patch_height = patch_rows;
  grid.patch_width = patch_columns;
  grid.rows = (picture[2] + window.pads_after[0]) / patch_rows;
  grid.columns = (picture[3] + window.pads_after[1]) / patch_columns;
  if (grid.rows < 1 || grid.columns < 1 || grid.rows > kMostPatches / grid.columns) {
    throw InvalidInput(fmt::format(
        "a picture of {}x{} pixels gives {}x{} patches of {}x{}; there must be 1 to {}", picture[2],
        picture[3], grid.rows, grid.columns, patch_rows, patch_columns, kMostPatches));
  }
  const auto weights = build.checkpoint().convolution(
      embedding.projection, {embedding.width, picture[1], patch_rows, patch_columns}, build.type(),
      embedding.bias);
  const Value image = convolution(graph, pixels, weights, window, embedding.projection);
  const Value flat = reshape(graph, image, {picture[0], embedding.width, grid.count()},
                             embedding.projection + "/patches");
  return transpose(graph, flat, {0, 2, 1}, embedding.projection + "/patches");
}

// The same tokens for every picture: [batch, tokens, width].
Value special_tokens(EncoderBuilder& build, const PatchEmbedding& embedding, int64_t batch) {
  const auto count = static_cast<int64_t>(embedding.special.size());
  Tensor tokens = Tensor::empty({batch, count, embedding.width}, build.type());
  for (int64_t sample = 0; sample < batch; ++sample) {
    for (int64_t i = 0; i < count; ++i) {
      tokens.select(0, sample).select(0, i).copy_from(
          embedding.special[i].reshape({embedding.width}));
    }
  }
  return build.graph().constant(tokens, "embeddings/special_tokens");
}

// [rows, columns, width] resized by a rule of pictures.
Tensor resized(const Tensor& table, int64_t rows, int64_t columns, ResizeMode mode) {
  GraphBuilder graph(Folding::kYes);
  const auto scale = [](int64_t to, int64_t from) {
    return static_cast<double>(to) / static_cast<double>(from);
  };
  const Value resized = resize(
      graph, graph.constant(table, "positions"), {rows, columns, table.dim(2)},
      {scale(rows, table.dim(0)), scale(columns, table.dim(1)), 1}, {.mode = mode}, "positions");
  return *graph.known(resized);
}

}  // namespace

std::span<const PictureArchitecture* const> picture_architectures() { return kArchitectures; }

const PictureArchitecture* find_picture_architecture(const Config& config) {
  for (const PictureArchitecture* known : kArchitectures) {
    if (known->model_type == config.model_type()) return known;
  }
  return nullptr;
}

StoredTensors with_names_of_files(StoredTensors tensors, std::span<const Renaming> renamings) {
  StoredTensors renamed;
  for (auto& [name, tensor] : tensors) {
    std::string in_files = name;
    for (const Renaming& renaming : renamings) {
      in_files = replaced(std::move(in_files), renaming.from, renaming.to);
    }
    renamed.insert_or_assign(std::move(in_files), std::move(tensor));
  }
  return renamed;
}

LayerSettings layer_settings(const Config& config, double default_epsilon,
                             std::string default_activation) {
  const int64_t layers = config.size_or("num_hidden_layers", 12);
  if (layers > 1000) {
    throw FileError(fmt::format("config.json: 'num_hidden_layers' is {}; at most 1000", layers));
  }
  return {.width = config.size_or("hidden_size", 768),
          .layers = layers,
          .heads = config.size_or("num_attention_heads", 12),
          .inner = config.size_or("intermediate_size", 3072),
          .epsilon = config.layer_norm_epsilon(default_epsilon),
          .activation = config.text_or("hidden_act", std::move(default_activation))};
}

Tensor positions_for(EncoderBuilder& build, const PatchEmbedding& embedding,
                     const PatchGrid& grid) {
  const Tensor& positions = embedding.positions;
  const auto special = static_cast<int64_t>(embedding.special.size());
  const int64_t learned = positions.dim(0) - special, width = embedding.width;
  const auto [height, breadth] = build.config().pair_or("image_size", 224);
  const bool as_learned = grid.rows == height / embedding.patch.first &&
                          grid.columns == breadth / embedding.patch.second;
  if (learned == grid.count() && (as_learned || grid.rows == grid.columns)) return positions;
  const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(learned)));
  if (learned < 1 || side * side != learned) {
    throw InvalidInput(
        fmt::format("the model knows {} positions, which are no square: give it the size of "
                    "picture it was made for, {}x{}, and not {}x{} patches",
                    learned, height, breadth, grid.rows, grid.columns));
  }
  const std::string name = fmt::format("positions/{}x{}", grid.rows, grid.columns);
  return build.checkpoint().derived(name, build.type(), [&] {
    const Tensor table = positions.slice(0, special, learned).reshape({side, side, width});
    Tensor all = Tensor::empty({special + grid.count(), width}, build.type());
    all.slice(0, 0, special).copy_from(positions.slice(0, 0, special));
    all.slice(0, special, grid.count())
        .copy_from(resized(table, grid.rows, grid.columns, ResizeMode::kCubic)
                       .reshape({grid.count(), width}));
    return all;
  });
}

PictureOutputs embed_patches(EncoderBuilder& build, Value pixels, const PatchEmbedding& embedding) {
  GraphBuilder& graph = build.graph();
  PictureOutputs outputs;
  outputs.patches = project_patches(build, pixels, embedding, outputs.grid);
  Value tokens = outputs.patches;
  // Torch's default for norms whose epsilon no config tells.
  if (!embedding.norm.empty()) tokens = build.norm(tokens, embedding.norm, 1e-5);
  const int64_t special = outputs.grid.first;
  if (special > 0) {
    tokens = concat(graph, special_tokens(build, embedding, graph.shape(pixels)[0]), tokens, 1,
                    "embeddings/tokens");
  }
  if (embedding.positions.defined()) {
    const Tensor positions = positions_for(build, embedding, outputs.grid);
    const Value given = graph.constant(positions.reshape({1, positions.dim(0), positions.dim(1)}),
                                       "embeddings/positions");
    tokens = add(graph, tokens, given, "embeddings/add_positions");
  }
  if (const int64_t given = build.given_tokens(); given > 0) {
    tokens = graph.input("tokens", {graph.shape(pixels)[0], given, embedding.width}, build.type());
    outputs.grid.rows = 1;
    outputs.grid.columns = given - special;
  }
  outputs.embeddings = outputs.layers_input = tokens;
  return outputs;
}

void refuse_given_tokens(const EncoderBuilder& build) {
  if (build.given_tokens() == 0) return;
  throw InvalidInput(
      "this model's attention counts distances between patches, so none can be left out: hide them "
      "by painting, such as grey");
}

Value attend(EncoderBuilder& build, Value x, const PreNormLayer& layer,
             const LayerSettings& settings, Value mask) {
  const Value normed = build.norm(x, layer.norm_before, settings.epsilon);
  const Value context = build.self_attention(normed, layer.attention, settings.heads, mask);
  const Value attended =
      build.linear(context, layer.output, settings.width, {.scale = layer.output_scale});
  return add(build.graph(), attended, x, layer.output + "/add");
}

Value feed_forward(EncoderBuilder& build, Value x, const PreNormLayer& layer,
                   const LayerSettings& settings) {
  const Value normed = build.norm(x, layer.norm_after, settings.epsilon);
  const Value inner = build.activate(build.linear(normed, layer.inner, settings.inner),
                                     settings.activation, layer.inner + "/act");
  const Value outer =
      build.linear(inner, layer.outer, settings.width, {.scale = layer.outer_scale});
  return add(build.graph(), outer, x, layer.outer + "/add");
}

PreNormLayer vit_layer(const std::string& base, const Config& config) {
  const std::string self = base + "attention.attention";
  const Bias bias = config.flag_or("qkv_bias", true) ? Bias::kYes : Bias::kNo;
  return {.attention = {self + ".query", self + ".key", self + ".value", self, bias, bias, bias},
          .output = base + "attention.output.dense",
          .norm_before = base + "layernorm_before",
          .norm_after = base + "layernorm_after",
          .inner = base + "intermediate.dense",
          .outer = base + "output.dense"};
}

PictureOutputs vit_encoder(EncoderBuilder& build, Value pixels,
                           const std::vector<std::string>& special) {
  const Config& config = build.config();
  const LayerSettings settings = layer_settings(config, 1e-12);
  const std::string base = build.prefix() + "embeddings.";
  PatchEmbedding embedding{.projection = base + "patch_embeddings.projection",
                           .width = settings.width,
                           .patch = config.pair_or("patch_size", 16)};
  for (const std::string& name : special) {
    embedding.special.push_back(build.parameter(base + name, {1, 1, settings.width}));
  }
  embedding.positions =
      build.parameter(base + "position_embeddings", {1, -1, settings.width}).select(0, 0);
  PictureOutputs outputs = embed_patches(build, pixels, embedding);
  Value x = outputs.layers_input;
  for (int64_t index = 0; index < settings.layers; ++index) {
    const PreNormLayer layer =
        vit_layer(fmt::format("{}encoder.layer.{}.", build.prefix(), index), config);
    x = feed_forward(build, attend(build, x, layer, settings, {}), layer, settings);
  }
  outputs.hidden = build.norm(x, build.prefix() + "layernorm", settings.epsilon);
  return outputs;
}

Value first_token(EncoderBuilder& build, const PictureOutputs& encoded) {
  return build.row(encoded.hidden, 0, "first_token");
}

Value mean_of_patches(EncoderBuilder& build, const PictureOutputs& encoded) {
  GraphBuilder& graph = build.graph();
  const int64_t tokens = graph.shape(encoded.hidden)[1], first = encoded.grid.first;
  if (tokens == first) {
    throw InvalidInput(
        "this model reads the mean of its patches, and all are left out: hide them by painting, "
        "such as grey");
  }
  const Value patches =
      first == 0 ? encoded.hidden
                 : slice(graph, encoded.hidden, 1, first, tokens - first, "patch_tokens");
  return mean(graph, patches, 1, "mean_of_patches");
}

}  // namespace whyformer
