// What every explainer of games does: asks in batches, counts, tells the watch.
#pragma once

#include <cstdint>
#include <vector>

#include "whyformer/games.h"

namespace whyformer {

class Asker {
 public:
  // `of`: how many coalitions are planned, for the watch. Throws InvalidInput where the game has no
  // outputs.
  Asker(Game& game, const Watch& watch, int64_t of);

  // [coalitions × outputs]; fewer rows where the watch ended it before all were asked for.
  std::vector<double> ask(const std::vector<Coalition>& coalitions);
  // The same, with one background each.
  std::vector<double> ask(const std::vector<Coalition>& coalitions,
                          const std::vector<int64_t>& background);
  // The same, appended to `values`. False where the watch ended it; some may be missing then.
  bool ask(const std::vector<Coalition>& coalitions, std::vector<double>& values);
  // Everything hidden, then everything visible: two rows. Throws Interrupted where the watch ended
  // it in between.
  std::vector<double> ask_ends();

  // Changes how many coalitions are planned.
  void plan(int64_t of) { of_ = of; }

  int64_t players() const { return players_; }
  int64_t outputs() const { return outputs_; }
  int64_t at_once() const { return at_once_; }
  int64_t asked() const { return asked_; }
  bool stopped() const { return stopped_; }

 private:
  template <class AskBatch>
  std::vector<double> in_batches(int64_t count, const AskBatch& ask_batch);
  void check(const std::vector<double>& values, int64_t coalitions) const;

  Game& game_;
  const Watch& watch_;
  int64_t of_;
  int64_t players_, outputs_, at_once_;
  int64_t asked_ = 0;
  bool stopped_ = false;
};

// The players that can change something, in ascending order.
std::vector<int64_t> varying_players(const Game& game);

// Of all players, from one of the varying ones. The others are visible.
Coalition among_all(const Coalition& varying, const std::vector<int64_t>& players, int64_t all);

// Throws InvalidInput where it is negative or not a number.
void check_target_error(double target_error);

// What is left to say where nothing but the ends matters: no player varies, or one does and is
// worth everything.
GameValues from_ends(Asker& asker, const std::vector<int64_t>& varying);

}  // namespace whyformer
