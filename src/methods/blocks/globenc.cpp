#include "methods/blocks/block_methods.h"
#include "methods/blocks/block_vectors.h"
#include "methods/method.h"

namespace whyformer {
namespace {

constexpr std::string_view kNormsBeforeNote =
    "GlobEnc is defined for models that normalise behind each part; this one normalises in front, "
    "so its vectors are attention and residual path alone.";

// N[L-1]···N[0] with N[i,j] = ‖ũ_ij carried past the feed-forward part through the second norm‖,
// neither normalised nor with an identity: the residual path is inside.
Scores globenc(Run& run, const LayerChoice& choice) {
  bool norms_before = false;
  Scores scores{read_out_of_product(run, "globenc", choice, [&](const EncoderBlock& block) {
    norms_before = norms_before || block.norms_before();
    return norm_map(BlockVectors(block, run.pass(), 0, {.reach = Reach::kBlock}));
  })};
  if (norms_before) scores.notes.emplace_back(kNormsBeforeNote);
  return scores;
}

}  // namespace

const Method kGlobEnc{
    {.name = "globenc",
     .summary = "rollout of vector norms through attention, residual connections and layer norms",
     .paper = "Modarressi et al., NAACL 2022",
     .cost = "1 forward, M² vectors per layer",
     .class_specific = false,
     .is_signed = false,
     .options = layer_options(),
     .presets = {}},
    {.attention = true, .values = true},
    [](Run& run, const OptionReader& options) { return globenc(run, layer_choice(options)); }};

}  // namespace whyformer
