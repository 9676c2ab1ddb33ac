// All coalitions of the players of a game that vary.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "games/asker.h"
#include "whyformer/games.h"

namespace whyformer {

class Enumeration {
 public:
  // Throws InvalidInput where there are more coalitions than max_evals. `what` is being computed,
  // for the message.
  Enumeration(Game& game, int64_t max_evals, const Watch& watch, const std::string& what);

  // Calls `take` for every coalition, from the empty to the full one: bit i of `members` is the
  // i-th varying player; `value` has one entry per output. Throws Interrupted where the watch ends
  // it before the last.
  void each(const std::function<void(uint64_t members, const double* value)>& take);

  const std::vector<int64_t>& varying() const { return varying_; }
  Asker& asker() { return asker_; }

 private:
  std::vector<Coalition> batch(uint64_t first, uint64_t last) const;

  std::vector<int64_t> varying_;
  uint64_t coalitions_;
  Asker asker_;
};

// k! (players - k - 1)! / players!, for k from 0 to players - 1.
std::vector<double> shapley_weights(int64_t players);

}  // namespace whyformer
