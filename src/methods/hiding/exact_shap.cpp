#include "methods/hiding/input_game.h"

namespace whyformer {

const Method kExactShap{
    {.name = "exact-shap",
     .summary = "exact Shapley values over all coalitions, for at most 16 units",
     .paper = "Shapley, 1953; Lundberg & Lee, NeurIPS 2017",
     .cost = "2^M forwards",
     .class_specific = true,
     .is_signed = true,
     .model_agnostic = true,
     .options = {hiding_option(), space_option(), link_option(),
                 evaluations_option("maximum number of coalitions; larger games are refused",
                                    100000, 1)},
     .presets = {}},
    {},
    [](Run& run, const OptionReader& options) {
      InputGame game(run, linked_hiding_options(options));
      return game.scores(exact_shap(game, {.max_evals = options.whole("max-evals")}, watch_of(run)),
                         options.word("space"));
    },
    OnSeveralParts::kTogether};

}  // namespace whyformer
