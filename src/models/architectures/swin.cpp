#include <fmt/format.h>

#include <algorithm>

#include "models/architectures/picture_encoder.h"
#include "ops/gathering.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr double kTorchEpsilon = 1e-5;  // of norms whose epsilon the config does not tell

struct SwinSettings {
  std::vector<int64_t> depths, heads;
  int64_t window;
  double mlp_ratio, epsilon;
  std::string activation;
  Bias bias;
};

SwinSettings settings_of(const Config& config) {
  SwinSettings settings{.depths = config.sizes_or("depths", {2, 2, 6, 2}, 16),
                        .heads = config.sizes_or("num_heads", {3, 6, 12, 24}, 16),
                        .window = config.size_or("window_size", 7),
                        .mlp_ratio = config.number_or("mlp_ratio", 4),
                        .epsilon = config.layer_norm_epsilon(1e-5),
                        .activation = config.text_or("hidden_act", "gelu"),
                        .bias = config.flag_or("qkv_bias", true) ? Bias::kYes : Bias::kNo};
  if (settings.depths.size() != settings.heads.size()) {
    throw FileError(fmt::format("config.json: {} 'depths' but {} 'num_heads'",
                                settings.depths.size(), settings.heads.size()));
  }
  return settings;
}

// How the tokens of a grid, shifted and padded to whole windows, lie in windows.
class Windows {
 public:
  Windows(int64_t rows, int64_t columns, int64_t side, int64_t shift)
      : rows_(rows),
        columns_(columns),
        side_(side),
        shift_(shift),
        down_((rows + side - 1) / side),
        across_((columns + side - 1) / side) {}

  int64_t count() const { return down_ * across_; }
  int64_t tokens() const { return side_ * side_; }
  bool is_shifted() const { return shift_ > 0; }
  bool pads() const { return down_ * side_ != rows_ || across_ * side_ != columns_; }
  // One window that holds the tokens in their order.
  bool is_whole() const { return count() == 1 && !pads() && !is_shifted(); }

  // By place in the windows: the token there, or rows · columns for padding.
  std::vector<int64_t> places() const {
    std::vector<int64_t> tokens;
    for_each_place([&](int64_t row, int64_t column) {
      const int64_t from_row = (row + shift_) % (down_ * side_);
      const int64_t from_column = (column + shift_) % (across_ * side_);
      const bool inside = from_row < rows_ && from_column < columns_;
      tokens.push_back(inside ? from_row * columns_ + from_column : rows_ * columns_);
    });
    return tokens;
  }

  // By token: its place in the windows.
  std::vector<int64_t> places_back() const {
    std::vector<int64_t> back(rows_ * columns_, 0);
    const std::vector<int64_t> tokens = places();
    for (size_t place = 0; place < tokens.size(); ++place) {
      if (tokens[place] < rows_ * columns_) back[tokens[place]] = static_cast<int64_t>(place);
    }
    return back;
  }

  // What the shift brought into one window from opposite sides of the picture does not attend to
  // each other: [batch · windows, 1, tokens, tokens].
  Tensor mask(int64_t batch, DType type) const {
    std::vector<int64_t> regions;
    for_each_place([&](int64_t row, int64_t column) {
      regions.push_back(3 * region(row, down_ * side_) + region(column, across_ * side_));
    });
    const int64_t n = tokens();
    Tensor mask = Tensor::zeros({batch * count(), 1, n, n}, DType::kFloat64);
    double* out = mask.mutable_data<double>();
    for (int64_t window = 0; window < batch * count(); ++window) {
      const int64_t* own = regions.data() + window % count() * n;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          if (own[i] != own[j]) out[(window * n + i) * n + j] = -100;  // as transformers does
        }
      }
    }
    return mask.cast(type);
  }

 private:
  template <typename Use>
  void for_each_place(const Use& use) const {
    for (int64_t window = 0; window < count(); ++window) {
      for (int64_t i = 0; i < tokens(); ++i) {
        use(window / across_ * side_ + i / side_, window % across_ * side_ + i % side_);
      }
    }
  }

  int64_t region(int64_t at, int64_t length) const {
    return (at >= length - side_ ? 1 : 0) + (at >= length - shift_ ? 1 : 0);
  }

  int64_t rows_, columns_, side_, shift_, down_, across_;
};

Value indices(GraphBuilder& graph, const std::vector<int64_t>& values, const std::string& name) {
  return graph.constant(
      Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)),
      name);
}

// [batch, tokens, width] and a row of zeros behind them.
Value with_zero_row(GraphBuilder& graph, Value x, const std::string& name) {
  return pad(graph, x, {0, 0, 0}, {0, 1, 0}, PadMode::kConstant, 0, name);
}

// The tokens of the stage at hand.
struct Stage {
  int64_t rows, columns, width, heads;
};

class SwinLayers {
 public:
  SwinLayers(EncoderBuilder& build, const SwinSettings& settings)
      : build_(build), graph_(build.graph()), settings_(settings) {}

  Value layer(Value x, const Stage& stage, const std::string& base, int64_t index) {
    const Windows windows = windows_of(stage, index);
    const Value normed = build_.norm(x, base + "layernorm_before", settings_.epsilon);
    const Value inside = to_windows(normed, windows, base + "windows");
    const std::string self = base + "attention.self";
    const Value context =
        build_.self_attention(inside,
                              {self + ".query", self + ".key", self + ".value", self,
                               settings_.bias, settings_.bias, settings_.bias},
                              stage.heads, bias(stage, windows, self, graph_.shape(x)[0]));
    const Value attended = build_.linear(context, base + "attention.output.dense", stage.width);
    x = add(graph_, from_windows(attended, windows, graph_.shape(x), base + "windows_back"), x,
            base + "attention/add");
    return feed_forward(
        build_, x,
        {.norm_after = base + "layernorm_after",
         .inner = base + "intermediate.dense",
         .outer = base + "output.dense"},
        {.width = stage.width,
         .inner = static_cast<int64_t>(settings_.mlp_ratio * static_cast<double>(stage.width)),
         .epsilon = settings_.epsilon,
         .activation = settings_.activation});
  }

  // Each two by two tokens become one of twice the width.
  Value merge(Value x, Stage& stage, const std::string& base) {
    const int64_t batch = graph_.shape(x)[0], rows = (stage.rows + 1) / 2,
                  columns = (stage.columns + 1) / 2, none = stage.rows * stage.columns;
    std::vector<int64_t> tokens;
    for (int64_t place = 0; place < rows * columns; ++place) {
      for (int64_t part = 0; part < 4; ++part) {  // down first, then across
        const int64_t row = place / columns * 2 + part % 2, column = place % columns * 2 + part / 2;
        const bool inside = row < stage.rows && column < stage.columns;
        tokens.push_back(inside ? row * stage.columns + column : none);
      }
    }
    if (stage.rows % 2 != 0 || stage.columns % 2 != 0) x = with_zero_row(graph_, x, base + "pad");
    x = gather(graph_, x, indices(graph_, tokens, base + "order"), 1, base + "neighbours");
    x = reshape(graph_, x, {batch, rows * columns, 4 * stage.width}, base + "neighbours");
    x = build_.norm(x, base + "norm", kTorchEpsilon);
    stage = {rows, columns, 2 * stage.width, 0};
    return build_.linear(x, base + "reduction", stage.width, {.bias = Bias::kNo});
  }

 private:
  Windows windows_of(const Stage& stage, int64_t index) const {
    const int64_t least = std::min(stage.rows, stage.columns);
    if (least < settings_.window) {
      throw InvalidInput(fmt::format(
          "the picture is too small: a stage has {}x{} tokens but its windows are {}x{}",
          stage.rows, stage.columns, settings_.window, settings_.window));
    }
    const bool shifts = index % 2 == 1 && least > settings_.window;
    return {stage.rows, stage.columns, settings_.window, shifts ? settings_.window / 2 : 0};
  }

  // [batch · windows, tokens of a window, width]
  Value to_windows(Value x, const Windows& windows, const std::string& name) {
    if (windows.is_whole()) return x;
    const Shape shape = graph_.shape(x);
    if (windows.pads()) x = with_zero_row(graph_, x, name + "/pad");
    x = gather(graph_, x, indices(graph_, windows.places(), name + "/order"), 1, name);
    return reshape(graph_, x, {shape[0] * windows.count(), windows.tokens(), shape[2]}, name);
  }

  Value from_windows(Value x, const Windows& windows, const Shape& shape, const std::string& name) {
    if (windows.is_whole()) return x;
    x = reshape(graph_, x, {shape[0], windows.count() * windows.tokens(), shape[2]}, name);
    return gather(graph_, x, indices(graph_, windows.places_back(), name + "/order"), 1, name);
  }

  // What is added to the scores. The sum is made at run time: for every head and window of a batch
  // it is many times larger than its parts.
  Value bias(const Stage& stage, const Windows& windows, const std::string& self, int64_t batch) {
    const int64_t side = settings_.window, distances = 2 * side - 1;
    const Tensor table = build_.parameter(self + ".relative_position_bias_table",
                                          {distances * distances, stage.heads});
    const Tensor bias = build_.checkpoint().derived(self + "/bias", build_.type(), [&] {
      return relative_position_bias(table, side, side, ClassToken::kNone);
    });
    const Value by_distance = graph_.constant(bias, self + "/bias");
    if (!windows.is_shifted()) return by_distance;
    const Value mask = graph_.constant(windows.mask(batch, build_.type()), self + "/mask");
    return add(graph_, by_distance, mask, self + "/add_mask");
  }

  EncoderBuilder& build_;
  GraphBuilder& graph_;
  const SwinSettings& settings_;
};

PictureOutputs encode(EncoderBuilder& build, Value pixels) {
  const Config& config = build.config();
  const SwinSettings settings = settings_of(config);
  const std::string base = build.prefix() + "embeddings.";
  PatchEmbedding embedding{.projection = base + "patch_embeddings.projection",
                           .width = config.size_or("embed_dim", 96),
                           .patch = config.pair_or("patch_size", 4),
                           .pads_pixels = true,
                           .norm = base + "norm"};
  if (config.flag_or("use_absolute_embeddings", false)) {
    embedding.positions =
        build.parameter(base + "position_embeddings", {1, -1, embedding.width}).select(0, 0);
  }
  refuse_given_tokens(build);
  PictureOutputs outputs = embed_patches(build, pixels, embedding);
  SwinLayers layers(build, settings);
  Stage stage{outputs.grid.rows, outputs.grid.columns, embedding.width, 0};
  Value x = outputs.layers_input;
  for (size_t index = 0; index < settings.depths.size(); ++index) {
    const std::string name = fmt::format("{}encoder.layers.{}.", build.prefix(), index);
    stage.heads = settings.heads[index];
    for (int64_t block = 0; block < std::min<int64_t>(settings.depths[index], 1000); ++block) {
      x = layers.layer(x, stage, fmt::format("{}blocks.{}.", name, block), block);
    }
    if (index + 1 < settings.depths.size()) x = layers.merge(x, stage, name + "downsample.");
  }
  outputs.hidden = build.norm(x, build.prefix() + "layernorm", settings.epsilon);
  return outputs;
}

Value pooled(EncoderBuilder& build, const PictureOutputs& encoded) {
  return mean_of_patches(build, encoded);
}

Value classify(EncoderBuilder& build, const PictureOutputs& encoded, int64_t labels) {
  return build.linear(pooled(build, encoded), "classifier", labels);
}

constexpr std::array kRenamings{Renaming{"attention.q_proj.", "attention.self.query."},
                                Renaming{"attention.k_proj.", "attention.self.key."},
                                Renaming{"attention.v_proj.", "attention.self.value."},
                                Renaming{"attention.relative_position_bias.", "attention.self."},
                                Renaming{"attention.o_proj.", "attention.output.dense."},
                                Renaming{"mlp.fc1.", "intermediate.dense."},
                                Renaming{"mlp.fc2.", "output.dense."}};

}  // namespace

const PictureArchitecture kSwin{"swin",   "swin.",   {"classifier.weight"}, encode, pooled,
                                classify, kRenamings};

}  // namespace whyformer
