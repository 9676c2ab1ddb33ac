#include "methods/gradients/token_gradients.h"
#include "methods/method.h"

namespace whyformer {

// Σ_d e_i,d · ∂y/∂e_i,d.
const Method kGradientTimesInput{
    {.name = "gradient-x-input",
     .summary = "gradient times input vector: the first-order effect of each token",
     .paper = "Shrikumar et al., ICML 2017; for text: Denil et al., 2015",
     .cost = "1 forward, 1 backward",
     .class_specific = true,
     .is_signed = true,
     .options = {depth_option()},
     .presets = {}},
    {.embedding_gradient = true},
    [](Run& run, const OptionReader& options) {
      const Depth depth = depth_named(run.input(), options.word("at"));
      Scores scores =
          folded(run.input(), depth, products(run.embeddings(depth), run.embedding_gradient(depth)),
                 row_sums);
      note_if_normalised_first(run, depth, scores);
      return scores;
    }};

}  // namespace whyformer
