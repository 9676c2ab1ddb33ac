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
     .options = {place_option()},
     .presets = {}},
    {.embedding_gradient = true},
    [](Explained& explained, const OptionReader& options) {
      const Place place = place_named(explained.subject(), options.word("at"));
      Scores scores = folded(
          explained.subject(), place,
          products(explained.embeddings(place), explained.embedding_gradient(place)), row_sums);
      note_if_normalised_first(explained, place, scores);
      return scores;
    }};

}  // namespace whyformer
