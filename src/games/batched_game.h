// Asks a game in batches and tells the watch after each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "whyformer/games.h"

namespace whyformer {

class BatchedGame {
 public:
  // `total` is what the watch is told of the whole.
  BatchedGame(Game& game, const Watch& watch, int64_t total);

  // Appends the outputs of the coalitions in their order. False where the watch ended it; some may
  // be missing then.
  bool ask(std::span<const Coalition> coalitions, std::vector<double>& values);

  int64_t evaluations() const { return evaluations_; }
  void set_total(int64_t total) { total_ = total; }

 private:
  Game& game_;
  const Watch& watch_;
  int64_t total_;
  int64_t evaluations_ = 0;
};

// The players that can change something, in order.
std::vector<int64_t> varying_players(const Game& game);

// Of all players, from one of the varying ones. The others are visible.
Coalition among_all(const Coalition& varying, const std::vector<int64_t>& players, int64_t all);

}  // namespace whyformer
