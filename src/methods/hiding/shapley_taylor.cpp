#include "methods/hiding/input_game.h"

namespace whyformer {
namespace {

Scores scores_of(Run& run, const InputGame& game, const InteractionValues& found,
                 const std::string& space) {
  const int64_t players = game.players(), units = run.input().units();
  std::vector<std::vector<double>> rows(players);
  std::vector<double> sums(players, 0.0);
  double total = found.base[0] - found.full[0];
  for (int64_t i = 0; i < players; ++i) {
    rows[i].assign(found.values.begin() + i * players, found.values.begin() + (i + 1) * players);
    for (const double value : rows[i]) sums[i] += value;
    total += sums[i];
  }
  Scores scores{game.by_unit(sums)};
  scores.completeness_gap = total;
  scores.estimate = Estimate{.space = space,
                             .base = found.base[0],
                             .value = found.full[0],
                             .evaluations = found.evaluations};
  scores.estimate->interactions.assign(units * units, 0.0);
  const std::vector<int64_t> unit_of = run.input().players();
  for (int64_t i = 0; i < players; ++i) {
    const std::vector<double> row = game.by_unit(rows[i]);
    std::copy(row.begin(), row.end(), scores.estimate->interactions.begin() + unit_of[i] * units);
  }
  return scores;
}

}  // namespace

const Method kShapleyTaylor{
    {.name = "shapley-taylor",
     .summary = "Shapley-Taylor interaction index: main effects and pairwise interactions",
     .paper = "Sundararajan, Dhamdhere & Agarwal, ICML 2020",
     .cost = "2^M forwards",
     .class_specific = true,
     .is_signed = true,
     .model_agnostic = true,
     .options = {hiding_option(), space_option(),
                 evaluations_option("maximum number of coalitions; larger games are refused",
                                    100000, 1)},
     .presets = {}},
    {},
    [](Run& run, const OptionReader& options) {
      InputGame game(run, hiding_options(options));
      return scores_of(
          run, game, shapley_taylor(game, {.max_evals = options.whole("max-evals")}, watch_of(run)),
          options.word("space"));
    },
    OnSeveralParts::kTogether};

}  // namespace whyformer
