#include <fmt/format.h>

#include <bit>
#include <span>

#include "games/enumeration.h"
#include "games/tree_layout.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

GameValues owen_values(Game& game, const PlayerTree& tree, int64_t max_evals, const Watch& watch) {
  const int64_t needed = TreeLayout(tree, game.players()).owen_evaluations();
  if (needed > max_evals) {
    throw InvalidInput(fmt::format(
        "Exact Owen values of {} players on this tree need {}{} coalitions but max-evals "
        "is {}; estimate with partition-shap, or raise max-evals",
        game.players(), needed == kEndless ? "more than " : "", needed, max_evals));
  }
  PartitionValues result = partition_shap(game, tree, {.max_evals = needed}, watch);
  if (!result.finished) throw Interrupted();
  return result;
}

void add_scaled(double weight, const double* value, std::span<double> to) {
  for (size_t output = 0; output < to.size(); ++output) to[output] += weight * value[output];
}

// A coalition of k players counts w(k-1) for each member and -w(k) for each other. So that only
// members need a visit, -w(k) is summed once for all and members get it back.
GameValues shapley_values(Game& game, int64_t max_evals, const Watch& watch) {
  Enumeration all(game, max_evals, watch, "Exact Shapley values");
  const int64_t outputs = all.asker().outputs();
  const auto players = static_cast<int64_t>(all.varying().size());
  std::vector<double> weights = shapley_weights(players);
  weights.push_back(0);  // the full coalition has no others
  GameValues result{
      .base = {}, .full = {}, .values = std::vector<double>(game.players() * outputs)};
  const auto values_of = [&](int64_t i) {
    return std::span(result.values).subspan(all.varying()[i] * outputs, outputs);
  };
  std::vector<double> for_all(outputs);
  all.each([&](uint64_t members, const double* value) {
    const int size = std::popcount(members);
    if (size == 0) result.base.assign(value, value + outputs);
    if (size == players) result.full.assign(value, value + outputs);
    add_scaled(-weights[size], value, for_all);
    for (uint64_t rest = members; rest != 0; rest &= rest - 1) {
      add_scaled(weights[size - 1] + weights[size], value, values_of(std::countr_zero(rest)));
    }
  });
  for (int64_t i = 0; i < players; ++i) add_scaled(1, for_all.data(), values_of(i));
  result.evaluations = all.asker().asked();
  return result;
}

}  // namespace

GameValues exact_shap(Game& game, const ExactOptions& options, const Watch& watch) {
  GameValues result = options.tree ? owen_values(game, *options.tree, options.max_evals, watch)
                                   : shapley_values(game, options.max_evals, watch);
  check_additivity(result);
  return result;
}

}  // namespace whyformer
