#include "games/enumeration.h"

#include <fmt/format.h>

#include <algorithm>

#include "whyformer/error.h"

namespace whyformer {
namespace {

uint64_t coalitions_within(int64_t players, int64_t max_evals, const std::string& what) {
  if (players < 63 && int64_t{1} << players <= max_evals) return uint64_t{1} << players;
  constexpr int64_t kMostInReach = 24;  // 16 million evaluations
  throw InvalidInput(fmt::format(
      "{} of {} players need 2^{} coalitions but max-evals is {}; estimate with "
      "permutation-shap, kernel-shap or partition-shap{}",
      what, players, players, max_evals, players <= kMostInReach ? ", or raise max-evals" : ""));
}

}  // namespace

Enumeration::Enumeration(Game& game, int64_t max_evals, const Watch& watch, const std::string& what)
    : varying_(varying_players(game)),
      coalitions_(coalitions_within(static_cast<int64_t>(varying_.size()), max_evals, what)),
      asker_(game, watch, static_cast<int64_t>(coalitions_)) {}

void Enumeration::each(const std::function<void(uint64_t members, const double* value)>& take) {
  const uint64_t step = asker_.at_once();
  for (uint64_t first = 0; first < coalitions_; first += step) {
    if (asker_.stopped()) throw Interrupted();
    const uint64_t last = std::min(coalitions_, first + step);
    const std::vector<double> values = asker_.ask(batch(first, last));
    if (values.size() < (last - first) * static_cast<uint64_t>(asker_.outputs()))
      throw Interrupted();
    for (uint64_t members = first; members < last; ++members) {
      take(members, values.data() + (members - first) * asker_.outputs());
    }
  }
}

std::vector<Coalition> Enumeration::batch(uint64_t first, uint64_t last) const {
  std::vector<Coalition> coalitions(last - first, Coalition(asker_.players(), false));
  for (uint64_t members = first; members < last; ++members) {
    for (size_t i = 0; i < varying_.size(); ++i)
      coalitions[members - first][varying_[i]] = members >> i & 1;
  }
  return coalitions;
}

std::vector<double> shapley_weights(int64_t players) {
  std::vector<double> weights(players);
  for (int64_t k = 0; k < players; ++k) {
    weights[k] = k == 0
                     ? 1.0 / static_cast<double>(players)
                     : weights[k - 1] * static_cast<double>(k) / static_cast<double>(players - k);
  }
  return weights;
}

}  // namespace whyformer
