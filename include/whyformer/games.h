// Shapley values and their relatives, of any game: players that are visible or hidden, and what a coalition of
// visible ones is worth. Models are games too; see model.h.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace whyformer {

// Which players are visible, one entry each.
using Coalition = std::vector<bool>;

class Game {
 public:
  virtual ~Game() = default;

  virtual int64_t players() const = 0;
  virtual int64_t outputs() const { return 1; }
  // Players that can change something. The others are worth nothing, and nobody asks about them.
  virtual std::vector<bool> varying() const { return std::vector<bool>(players(), true); }
  // How many coalitions to ask for in one call, so that progress shows and an interruption is soon noticed.
  virtual int64_t most_at_once() const { return 256; }

  // [coalitions × outputs], row by row: the mean over the backgrounds, where there are several. A coalition may be
  // asked for many times; a game that costs something remembers.
  virtual std::vector<double> values(const std::vector<Coalition>& coalitions) = 0;

  // Hidden players look like those of a background, such as a row of a table.
  virtual int64_t backgrounds() const { return 1; }
  // The same with one background for each coalition instead of the mean over all.
  virtual std::vector<double> values(const std::vector<Coalition>& coalitions,
                                     const std::vector<int64_t>& /*background*/) {
    return values(coalitions);
  }
};

// Follows a long estimate. Called after each batch; returning false ends it with the estimate so far.
using Watch = std::function<bool(int64_t evaluations, int64_t of)>;

// What every estimate carries. Rows are players, columns outputs.
struct GameValues {
  std::vector<double> base;    // [outputs]: everything hidden
  std::vector<double> full;    // [outputs]: everything visible
  std::vector<double> values;  // [players × outputs]
  // Standard errors [players × outputs] where the values were sampled; empty where they are exact.
  std::vector<double> errors = {};
  int64_t evaluations = 0;  // coalitions that were asked for
  bool finished = true;     // false: the watch ended it, or the budget did not reach to the end
};

// base + sum of values - full, per output.
std::vector<double> additivity_gaps(const GameValues& values);

// A binary tree over players: children below the players' count are players, others are earlier merges. As SciPy's
// linkage matrices, without distances: merge i is the node players + i, the last merge is the root.
struct PlayerTree {
  struct Merge {
    int64_t left, right;
  };
  std::vector<Merge> merges;
};

}  // namespace whyformer
