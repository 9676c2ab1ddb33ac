// Picture encoders: what each architecture must say so that a graph can be built from its
// checkpoint.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/architectures/encoder.h"
#include "models/model_graph.h"

namespace whyformer {

struct PictureOutputs {
  Value patches;       // [batch, patches, width], before positions
  Value embeddings;    // [batch, tokens, width], with class tokens and positions
  Value layers_input;  // what enters the first layer
  Value hidden;        // [batch, tokens, width] of the last layer
  PatchGrid grid;      // of `embeddings`
};

// Part of a tensor's name in memory of transformers 5, and as files have it.
struct Renaming {
  std::string_view from, to;
};

struct PictureArchitecture {
  std::string_view model_type;  // in config.json
  std::string_view prefix;      // of the encoder's tensors in a model with a head
  // Tensors that only a classifier has; one of them is enough.
  std::array<std::string_view, 2> classifiers;
  PictureOutputs (*encode)(EncoderBuilder&, Value pixels);
  Value (*embed)(EncoderBuilder&, const PictureOutputs&);  // [batch, width]
  Value (*classify)(EncoderBuilder&, const PictureOutputs&, int64_t labels);
  std::span<const Renaming> renamings = {};
  // Whether transformers runs it on pictures of other sizes without being asked to; the others
  // refuse them.
  bool takes_other_sizes = true;
};

// One line per architecture.
extern const PictureArchitecture kBeit;
extern const PictureArchitecture kClip;
extern const PictureArchitecture kClipVision;
extern const PictureArchitecture kDeit;
extern const PictureArchitecture kDinoV2;
extern const PictureArchitecture kSwin;
extern const PictureArchitecture kVit;

std::span<const PictureArchitecture* const> picture_architectures();

// Null for models of another kind.
const PictureArchitecture* find_picture_architecture(const Config& config);

// Tensors under the names that files on the hub have, whichever they were written with.
StoredTensors with_names_of_files(StoredTensors tensors, std::span<const Renaming> renamings);

// The settings that all but Swin have, under the same keys.
struct LayerSettings {
  int64_t width = 0, layers = 0, heads = 0, inner = 0;
  double epsilon = 0;
  std::string activation = {};
};
LayerSettings layer_settings(const Config& config, double default_epsilon,
                             std::string default_activation = "gelu");

// From pixels to what enters the first layer.
struct PatchEmbedding {
  std::string projection;  // a convolution whose kernels do not overlap
  Bias bias = Bias::kYes;
  int64_t width = 0;
  std::pair<int64_t, int64_t> patch = {16, 16};
  bool pads_pixels = false;          // with zeros to whole patches; else a rest is cut off
  std::vector<Tensor> special = {};  // class tokens, `width` numbers each
  Tensor positions = {};             // [special + patches, width]; undefined for none
  std::string norm = {};             // behind the patches; empty for none
};
PictureOutputs embed_patches(EncoderBuilder& build, Value pixels, const PatchEmbedding& embedding);
// For encoders that need all patches: throws InvalidInput where tokens are given.
void refuse_given_tokens(const EncoderBuilder& build);

// Positions learned for a square grid, for another one as transformers interpolates them: bicubic.
// Throws InvalidInput where they do not belong to a square.
Tensor positions_for(EncoderBuilder& build, const PatchEmbedding& embedding, const PatchGrid& grid);

// The names of one pre-norm layer's tensors.
struct PreNormLayer {
  EncoderBuilder::AttentionNames attention = {};
  std::string output = {};  // projection of the heads
  std::string norm_before = {}, norm_after = {};
  std::string inner = {}, outer = {};
  std::string output_scale = {}, outer_scale = {};  // LayerScale; empty for none
};
// x + attention(norm(x)) and x + outer(f(inner(norm(x)))).
Value attend(EncoderBuilder& build, Value x, const PreNormLayer& layer,
             const LayerSettings& settings, Value mask);
Value feed_forward(EncoderBuilder& build, Value x, const PreNormLayer& layer,
                   const LayerSettings& settings);

// Layer `base` of ViT, DeiT and BEiT; the heads' projections have biases unless the config denies
// it.
PreNormLayer vit_layer(const std::string& base, const Config& config);
inline constexpr std::array kVitRenamings{
    Renaming{"layers.", "encoder.layer."},
    Renaming{"attention.q_proj.", "attention.attention.query."},
    Renaming{"attention.k_proj.", "attention.attention.key."},
    Renaming{"attention.v_proj.", "attention.attention.value."},
    Renaming{"attention.o_proj.", "attention.output.dense."},
    Renaming{"mlp.fc1.", "intermediate.dense."},
    Renaming{"mlp.fc2.", "output.dense."}};

// What ViT and DeiT share: learned positions, then layers and a norm.
PictureOutputs vit_encoder(EncoderBuilder& build, Value pixels,
                           const std::vector<std::string>& special);

// The first token, [batch, width].
Value first_token(EncoderBuilder& build, const PictureOutputs& encoded);
// The mean of the patches of `hidden`, [batch, width].
Value mean_of_patches(EncoderBuilder& build, const PictureOutputs& encoded);

// A table's numbers for each pair of positions in a window: [1, heads, tokens, tokens]. The first
// rows of the table [distances, heads] are for the distances between two patches. With a class
// token, which comes first, three more follow: class to patch, patch to class, class to itself.
enum class ClassToken { kNone, kFirst };
Tensor relative_position_bias(const Tensor& table, int64_t rows, int64_t columns, ClassToken token);

}  // namespace whyformer
