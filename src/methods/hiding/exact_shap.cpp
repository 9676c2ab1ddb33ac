#include "methods/hiding/input_game.h"

namespace whyformer {

const Method kExactShap{
    {.name = "exact-shap",
     .summary = "Shapley values from every coalition of tokens or patches; up to 16 of them",
     .paper = "Shapley, 1953; Lundberg & Lee, NeurIPS 2017",
     .cost = "2^M forwards for M tokens",
     .class_specific = true,
     .is_signed = true,
     .options = {hiding_option(),
                 space_option(),
                 link_option(),
                 {"max-evals",
                  "refuse to ask for more coalitions than these",
                  int64_t{100000},
                  {},
                  1,
                  1e9}},
     .presets = {}},
    {},
    [](Explained& explained, const OptionReader& options) {
      InputGame game(explained, linked_hiding_options(options));
      return game.scores(
          exact_shap(game, {.max_evals = options.whole("max-evals")}, watch_of(explained)),
          options.word("space"));
    },
    OnPairs::kTogether};

}  // namespace whyformer
