#include "methods/hiding/input_game.h"

namespace whyformer {

const Method kPermutationShap{
    {.name = "permutation-shap",
     .summary = "Shapley values from random orders of the tokens or patches, each walked both ways",
     .paper = "Castro et al., 2009; Lundberg & Lee, NeurIPS 2017",
     .cost = "up to max-evals forwards, 2M+1 for an order of M tokens",
     .class_specific = true,
     .is_signed = true,
     .options = {hiding_option(),
                 space_option(),
                 link_option(),
                 {"max-evals",
                  "coalitions to ask for; 0: enough for ten orders, at least 500",
                  int64_t{0},
                  {},
                  0,
                  1e9},
                 {"target-error",
                  "stop when no standard error is larger; 0: use all of max-evals",
                  0.0,
                  {},
                  0,
                  1e9}},
     .presets = {{"shap",
                  "the shap package's budget and way to mask text",
                  {{"how", std::string("retokenize")}, {"max-evals", int64_t{500}}}}}},
    {},
    [](Explained& explained, const OptionReader& options) {
      InputGame game(explained, linked_hiding_options(options));
      const int64_t asked = options.whole("max-evals");
      const int64_t usual = std::max<int64_t>(500, 10 * (2 * game.players() + 1));
      const GameValues found = permutation_shap(game,
                                                {.max_evals = asked > 0 ? asked : usual,
                                                 .seed = numpy_seed(explained),
                                                 .target_error = options.number("target-error")},
                                                watch_of(explained));
      return game.sampled_scores(found, options.word("space"));
    },
    OnPairs::kTogether};

}  // namespace whyformer
