#include <algorithm>

#include "methods/hiding/partition_shap.h"

namespace whyformer {
namespace {

constexpr int64_t kMostColumnsExactly = 10;

// As shap.Explainer chooses: every coalition of a few columns, random orders of more.
Scores column_scores(Run& run, int64_t max_evals, const HidingOptions& hiding,
                     const std::string& space) {
  InputGame game(run, hiding);
  if (game.players() <= kMostColumnsExactly)
    return game.scores(exact_shap(game, {}, watch_of(run)), space);
  const GameValues found = permutation_shap(
      game,
      {.max_evals = std::max(max_evals, 10 * (2 * game.players() + 1)), .seed = numpy_seed(run)},
      watch_of(run));
  return game.sampled_scores(found, space);
}

}  // namespace

const Method kShap{
    {.name = "shap",
     .summary = "the choice of shap.Explainer: partition-shap for texts and "
                "pictures, exact or permutation for tables",
     .paper = "Lundberg & Lee, NeurIPS 2017; the shap package",
     .cost = "up to max-evals forwards (500)",
     .class_specific = true,
     .is_signed = true,
     .model_agnostic = true,
     .options = {hiding_option(), space_option(), link_option(),
                 evaluations_option(
                     "maximum number of coalitions evaluated; tables: all for up to 10 "
                     "columns, else at least ten permutations",
                     500, 2)},
     .presets = {{"shap",
                  "text masker of the shap package",
                  {{"how", std::string("retokenize")}}}}},
    {},
    [](Run& run, const OptionReader& options) {
      if (run.input().parts()[0]->traits().few_players) {
        return column_scores(run, options.whole("max-evals"), linked_hiding_options(options),
                             options.word("space"));
      }
      return partition_scores(run, {.max_evals = options.whole("max-evals")},
                              linked_hiding_options(options), options.word("space"));
    },
    OnSeveralParts::kTogether};

}  // namespace whyformer
