// In how many contexts players were looked at: what is the same in one context, however often, says
// nothing about its error.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "whyformer/games.h"

namespace whyformer {

class Contexts {
 public:
  explicit Contexts(int64_t players) : first_(players), several_(players, false) {}

  // Who was visible beside the player, before which background.
  void add(int64_t player, Coalition others, int64_t background = 0) {
    if (several_[player]) return;
    Context context{std::move(others), background};
    if (first_[player])
      several_[player] = *first_[player] != context;
    else
      first_[player] = std::move(context);
  }

  bool several(int64_t player) const { return several_[player]; }

 private:
  using Context = std::pair<Coalition, int64_t>;

  std::vector<std::optional<Context>> first_;
  std::vector<bool> several_;
};

}  // namespace whyformer
