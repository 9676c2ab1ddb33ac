// Shapley values and their relatives, of any game: players that are visible or hidden, and what a coalition of
// visible ones is worth. Models are games too; see model.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "whyformer/interrupted.h"

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

// Follows a long estimate. Called after each batch; returning false ends it with the estimate so far, or with
// Interrupted where there is none yet.
using Watch = std::function<bool(int64_t evaluations, int64_t of)>;

// What every estimate carries. Rows are players, columns outputs.
struct GameValues {
  std::vector<double> base;    // [outputs]: everything hidden
  std::vector<double> full;    // [outputs]: everything visible
  std::vector<double> values;  // [players × outputs]
  // Standard errors [players × outputs] where the values were sampled, infinite where there was one sample only;
  // empty where they are exact.
  std::vector<double> errors = {};
  int64_t evaluations = 0;  // coalitions that were asked for
  bool finished = true;     // false: the watch ended it, or the budget did not reach to the end
};

// base + sum of values - full, per output.
std::vector<double> additivity_gaps(const GameValues& values);

// Throws Error where a gap exceeds a millionth of the full value (or of 1, where that is larger).
void check_additivity(const GameValues& values);

// A binary tree over players: children below the players' count are players, others are earlier merges. As SciPy's
// linkage matrices, without distances: merge i is the node players + i, the last merge is the root.
struct PlayerTree {
  struct Merge {
    int64_t left, right;
  };
  std::vector<Merge> merges;
};

// Shapley values from all 2^M coalitions of the M players that vary.
struct ExactOptions {
  int64_t max_evals = 100000;  // more coalitions than these are refused
  // With a tree: Owen values, which average over siblings visible and hidden all the way up.
  std::optional<PlayerTree> tree = {};
};
GameValues exact_shap(Game& game, const ExactOptions& options = {}, const Watch& watch = {});

// Shapley-Taylor values of order 2. A pair's value is that of (i, j) plus that of (j, i); the diagonal holds what
// each player is worth alone. All together sum up to full - base.
struct InteractionValues {
  std::vector<double> base;    // [outputs]
  std::vector<double> full;    // [outputs]
  std::vector<double> values;  // [players × players × outputs]
  int64_t evaluations = 0;
};
struct InteractionOptions {
  int64_t max_evals = 100000;
};
InteractionValues shapley_taylor(Game& game, const InteractionOptions& options = {}, const Watch& watch = {});

// What the siblings of a group look like while the group is split.
enum class SiblingContext {
  kBoth,     // once hidden and once visible: Owen values
  kHidden,   // shap's fixed_context = 0
  kVisible,  // shap's fixed_context = 1
};
struct PartitionOptions {
  SiblingContext context = SiblingContext::kBoth;
  int64_t max_evals = 500;  // groups that remain unsplit share their worth evenly among their players
  int64_t batch_size = 10;  // groups are split in order of worth, this many coalitions between two looks
  uint32_t seed = 0;        // decides between groups of equal worth
};
struct PartitionValues : GameValues {
  // [(2 players - 1) × outputs], by the tree's nodes: what each was given before groups shared theirs out.
  std::vector<double> hierarchical = {};
};
PartitionValues partition_shap(Game& game, const PlayerTree& tree, const PartitionOptions& options = {},
                               const Watch& watch = {});

// Shapley values from random orders of the players, each walked forwards and backwards.
struct PermutationOptions {
  int64_t max_evals = 500;
  uint32_t seed = 0;
  double target_error = 0;  // stop when the largest standard error is no larger; 0: when the budget is spent
  std::optional<PlayerTree> tree = {};  // orders that keep groups together: estimates Owen values
};
GameValues permutation_shap(Game& game, const PermutationOptions& options = {}, const Watch& watch = {});

// Shapley values, player by player, from random orders and random backgrounds (IME). Players whose worth varies
// most are sampled most.
struct SamplingOptions {
  int64_t samples = 0;  // two coalitions each; 0: 1000 for each player that varies
  uint32_t seed = 0;
  double target_error = 0;  // stop when the largest standard error is no larger; 0: when all samples are taken
};
GameValues sampling_shap(Game& game, const SamplingOptions& options = {}, const Watch& watch = {});

}  // namespace whyformer
