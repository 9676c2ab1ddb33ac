#include <fmt/format.h>

#include "methods/blocks/block_methods.h"
#include "methods/blocks/block_vectors.h"
#include "methods/method.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

struct AttentionNormOptions {
  int64_t layer = -1;  // from the input; negative counts from the output
  int64_t head = -1;   // -1: the heads' vectors added up
  bool residual = false;
  bool layer_norm = false;
};

void check_options(const AttentionNormOptions& options, int64_t layer, const Run& run) {
  if (layer < 0 || layer >= run.layers()) {
    throw InvalidInput(fmt::format("attention-norm.layer={}: the model has layers 0 to {}",
                                   options.layer, run.layers() - 1));
  }
  const int64_t heads = run.found().sites[layer].heads;
  if (options.head >= heads) {
    throw InvalidInput(fmt::format("attention-norm.head={}: the layer has heads 0 to {}",
                                   options.head, heads - 1));
  }
  if (options.head >= 0 && options.residual) {
    throw InvalidInput(fmt::format(
        "attention-norm.head={} with residual=true: the residual path belongs to all heads "
        "together, so leave head at -1",
        options.head));
  }
  if (options.layer_norm && !options.residual) {
    throw InvalidInput(
        "attention-norm.layer-norm=true: the norm follows the residual path, so it needs "
        "residual=true");
  }
}

// ‖Σ_h A_h[c,j] f_h(x_j)‖ of one layer, the vectors of all heads added before the norm is taken;
// with the residual x_c at j = c, and through the norm behind it.
Scores attention_norm(Run& run, const AttentionNormOptions& options) {
  const int64_t layer = options.layer < 0 ? options.layer + run.layers() : options.layer;
  check_options(options, layer, run);
  const std::vector<EncoderBlock> blocks = blocks_of(run);
  const EncoderBlock& block = blocks[layer];
  BlockVectorOptions vectors{.head = options.head};
  if (options.residual) vectors.reach = Reach::kResidual;
  if (options.layer_norm) vectors.reach = Reach::kAttentionNorm;
  Scores scores{
      times(read_out_rows(run, block), norm_map(BlockVectors(block, run.pass(), 0, vectors)))};
  if (options.layer_norm && block.attended.norm_after == nullptr) {
    scores.notes.push_back("In this model no norm follows the residual path, so none is applied.");
  }
  return scores;
}

}  // namespace

const Method kAttentionNorm{
    {.name = "attention-norm",
     .summary = "norm of the attention-weighted value vectors in one layer",
     .paper = "Kobayashi et al., EMNLP 2020; residual and norm: Kobayashi et al., EMNLP 2021",
     .cost = "1 forward",
     .class_specific = false,
     .is_signed = false,
     .options = {{"layer", "layer index from the input; -1: the last", int64_t{-1}},
                 {"head", "head index; -1: sum of the vectors of all heads", int64_t{-1}, {}, -1},
                 {"residual", "add the residual connection to the read-out token's own vector",
                  false},
                 {"layer-norm",
                  "propagate the vectors through the layer norm after the residual connection",
                  false}},
     .presets = {{"kobayashi-2021",
                  "attention, residual connection and layer norm, as in the second paper",
                  {{"residual", true}, {"layer-norm", true}}}}},
    {.attention = true, .values = true},
    [](Run& run, const OptionReader& options) {
      return attention_norm(run, {.layer = options.whole("layer"),
                                  .head = options.whole("head"),
                                  .residual = options.flag("residual"),
                                  .layer_norm = options.flag("layer-norm")});
    }};

}  // namespace whyformer
