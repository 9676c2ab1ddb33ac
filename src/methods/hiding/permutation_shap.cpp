#include "methods/hiding/input_game.h"

namespace whyformer {

const Method kPermutationShap{
    {.name = "permutation-shap",
     .summary = "Shapley values from random permutations, each in both directions",
     .paper = "Castro et al., 2009; Lundberg & Lee, NeurIPS 2017",
     .cost = "10 (2M + 1) forwards, at least 500",
     .class_specific = true,
     .is_signed = true,
     .model_agnostic = true,
     .options = {hiding_option(), space_option(), link_option(),
                 evaluations_option(
                     "maximum number of coalitions evaluated; 0: ten permutations, at least 500", 0,
                     0),
                 target_error_option()},
     .presets = {{"shap",
                  "budget and text masker of the shap package",
                  {{"how", std::string("retokenize")}, {"max-evals", int64_t{500}}}}}},
    {},
    [](Run& run, const OptionReader& options) {
      InputGame game(run, linked_hiding_options(options));
      const int64_t asked = options.whole("max-evals");
      const int64_t usual = std::max<int64_t>(500, 10 * (2 * game.players() + 1));
      const GameValues found = permutation_shap(game,
                                                {.max_evals = asked > 0 ? asked : usual,
                                                 .seed = numpy_seed(run),
                                                 .target_error = options.number("target-error")},
                                                watch_of(run));
      return game.sampled_scores(found, options.word("space"));
    },
    OnSeveralParts::kTogether};

}  // namespace whyformer
