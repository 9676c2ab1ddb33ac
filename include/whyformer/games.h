// Shapley values and their relatives, of any game: players that are visible or hidden, and what a
// coalition of visible ones is worth. Models are games too; see model.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  // How many coalitions to ask for in one call, so that progress shows and an interruption is soon
  // noticed.
  virtual int64_t max_at_once() const { return 256; }

  // [coalitions × outputs], row by row: the mean over the backgrounds, where there are several. A
  // coalition may be asked for many times; a game that costs something remembers.
  virtual std::vector<double> values(const std::vector<Coalition>& coalitions) = 0;

  // Hidden players look like those of a background, such as a row of a table.
  virtual int64_t backgrounds() const { return 1; }
  // The same with one background for each coalition instead of the mean over all.
  virtual std::vector<double> values(const std::vector<Coalition>& coalitions,
                                     const std::vector<int64_t>& /*background*/) {
    return values(coalitions);
  }
};

// Outputs are compared as they are, or as log-odds of probabilities clipped to [1e-15, 1 - 1e-15].
enum class GameLink { kIdentity, kLogit };
double value_behind(GameLink link, double value);

// A game whose worth is seen behind a link: the link of the mean over its backgrounds.
class LinkedGame final : public Game {
 public:
  // Refers to the game.
  LinkedGame(Game& game, GameLink link) : game_(game), link_(link) {}

  int64_t players() const override { return game_.players(); }
  int64_t outputs() const override { return game_.outputs(); }
  std::vector<bool> varying() const override { return game_.varying(); }
  int64_t max_at_once() const override { return game_.max_at_once(); }
  std::vector<double> values(const std::vector<Coalition>& coalitions) override;
  // The mean over all backgrounds again: the link of one alone would be another game.
  using Game::values;

 private:
  Game& game_;
  GameLink link_;
};

// Follows a long estimate. Called after each batch; returning false ends it with the estimate so
// far, or with Interrupted where there is none yet.
using Watch = std::function<bool(int64_t evaluations, int64_t of)>;

// What every estimate carries. Rows are players, columns outputs.
struct GameValues {
  std::vector<double> base;    // [outputs]: everything hidden
  std::vector<double> full;    // [outputs]: everything visible
  std::vector<double> values;  // [players × outputs]
  // Standard errors [players × outputs] where the values were sampled, infinite where there was one
  // context only; empty where they are exact.
  std::vector<double> errors = {};
  int64_t evaluations = 0;  // coalitions that were asked for
  bool finished = true;     // false: the watch ended it, or the budget did not reach to the end
  // False: fewer independent equations than players. The values are the shortest of many solutions,
  // and no error is known.
  bool determined = true;
};

// base + sum of values - full, per output.
std::vector<double> additivity_gaps(const GameValues& values);

// Throws Error where a gap exceeds a millionth of the full value (or of 1, where that is larger).
void check_additivity(const GameValues& values);

// A binary tree over players: children below the players' count are players, others are earlier
// merges. As SciPy's linkage matrices, without distances: merge i is the node players + i, the last
// merge is the root.
struct PlayerTree {
  struct Merge {
    int64_t left, right;
  };
  std::vector<Merge> merges;
};

// Of the tokens or words of a text, each with the white space behind it: follows sentences and
// clauses, as the shap package builds it. `separator` is the token between two texts, empty where
// there is none.
PlayerTree token_tree(const std::vector<std::string>& segments, const std::string& separator = "");

// Of the patches of a picture, row by row. A part is split across its longer side, rows first; of
// an odd side the part nearer the origin gets one more, as the image masker of the shap package
// splits pixels.
PlayerTree grid_tree(int64_t rows, int64_t columns);

// Shapley values from all 2^M coalitions of the M players that vary.
struct ExactOptions {
  int64_t max_evals = 100000;  // more coalitions than these are refused
  // With a tree: Owen values, which average over siblings visible and hidden all the way up.
  std::optional<PlayerTree> tree = {};
};
GameValues exact_shap(Game& game, const ExactOptions& options = {}, const Watch& watch = {});

// Shapley-Taylor values of order 2. A pair's value is that of (i, j) plus that of (j, i); the
// diagonal holds what each player is worth alone. All together sum up to full - base.
struct InteractionValues {
  std::vector<double> base;    // [outputs]
  std::vector<double> full;    // [outputs]
  std::vector<double> values;  // [players × players × outputs]
  int64_t evaluations = 0;
};
struct InteractionOptions {
  int64_t max_evals = 100000;
};
InteractionValues shapley_taylor(Game& game, const InteractionOptions& options = {},
                                 const Watch& watch = {});

// What the siblings of a group look like while the group is split.
enum class SiblingContext {
  kBoth,     // once hidden and once visible: Owen values
  kHidden,   // shap's fixed_context = 0
  kVisible,  // shap's fixed_context = 1
};
struct PartitionOptions {
  SiblingContext context = SiblingContext::kBoth;
  int64_t max_evals =
      500;  // groups that remain unsplit share their worth evenly among their players
  int64_t batch_size =
      10;             // groups are split in order of worth, this many coalitions between two looks
  uint32_t seed = 0;  // decides between groups of equal worth
};
struct PartitionValues : GameValues {
  // [(2 players - 1) × outputs], by the tree's nodes: what each was given before groups shared
  // theirs out.
  std::vector<double> hierarchical = {};
};
PartitionValues partition_shap(Game& game, const PlayerTree& tree,
                               const PartitionOptions& options = {}, const Watch& watch = {});

// Shapley values from random orders of the players, each walked forwards and backwards.
struct PermutationOptions {
  int64_t max_evals = 500;
  uint32_t seed = 0;
  double target_error =
      0;  // stop when the largest standard error is no larger; 0: when the budget is spent
  std::optional<PlayerTree> tree = {};  // orders that keep groups together: estimates Owen values
};
GameValues permutation_shap(Game& game, const PermutationOptions& options = {},
                            const Watch& watch = {});

// Shapley values, player by player, from random orders and random backgrounds (IME). Players whose
// worth varies most are sampled most.
struct SamplingOptions {
  int64_t samples = 0;  // two coalitions each; 0: 1000 for each player that varies
  uint32_t seed = 0;
  double target_error =
      0;  // stop when the largest standard error is no larger; 0: when all samples are taken
};
GameValues sampling_shap(Game& game, const SamplingOptions& options = {}, const Watch& watch = {});

// ---- Fits over sampled coalitions ----

inline constexpr int64_t kMaxFitSamples = int64_t{1} << 22;

// Which players a fit keeps; the others get exactly 0. Only without a selection are the values
// Shapley values.
struct KernelSelection {
  enum class Kind {
    kNone,
    kNumber,  // as many passes of least angle regression as `players`
    kAic,     // the knot of the lasso path with the best information criterion
    kBic,
    kLasso,  // the lasso with penalty `alpha`
    kAuto,   // kAic where less than a fifth of the coalitions is seen, else kNone
  };
  Kind kind = Kind::kNone;
  int64_t players = 10;
  double alpha = 0;
};

// From "none", "num_features(10)", "aic", "bic", "auto" or a number for alpha, as shap's `l1_reg`.
KernelSelection kernel_selection(std::string_view name);

struct KernelOptions {
  int64_t samples = 0;  // coalitions, up to kMaxFitSamples; 0: 2 · players + 2048
  uint32_t seed = 0;    // of NumPy's legacy stream
  KernelSelection selection = {};
  GameLink link = GameLink::kIdentity;
  // Above 0: stop as soon as no standard error is larger, tested every 256 drawn coalitions.
  double target_error = 0;
};

// Kernel SHAP: the weighted least squares whose exact solution are the Shapley values, over all
// coalitions of the smallest and largest sizes and a paired sample of the others, with the sum held
// to full - base. Base and full are behind the link. Coalitions and values of shap 0.51; its own
// default is {.selection = num_features(10)}. Errors: delete-a-block jackknife over ten blocks of
// the drawn pairs, for the players selected from all of them.
GameValues kernel_shap(Game& game, const KernelOptions& options = {}, const Watch& watch = {});

// How LIME draws the coalitions around the whole input, and the defaults that go with it.
enum class LimeNeighbours {
  kWords,  // hides 1..n players, all sizes equally often: 5000, kernel 25 on 100 · cosine distance
  kPictureParts,  // hides each player with chance 1/2: 1000, kernel 0.25 on the cosine distance
};

enum class LimeSelection {
  kAuto,  // forward up to 6 players, else the highest weights
  kForward,
  kHighestWeights,
  kNone,
};

struct LimeOptions {
  LimeNeighbours neighbours = LimeNeighbours::kWords;
  // With the whole input, up to kMaxFitSamples; 0: the default of the neighbours.
  int64_t samples = 0;
  double kernel_width = 0;  // 0: the default of the neighbours
  LimeSelection selection = LimeSelection::kAuto;
  int64_t players = 10;  // how many the selection keeps
  double ridge = 1;      // penalty of the final fit
  uint32_t seed = 0;     // of NumPy's legacy stream
};

// A linear model around the whole input, one per output.
struct LimeFit {
  std::vector<double> intercepts;    // [outputs]
  std::vector<double> coefficients;  // [players × outputs]; 0 where not selected
  std::vector<double>
      errors;  // standard errors, as Kernel SHAP's; infinite for players never hidden
  std::vector<std::vector<int64_t>> selected;  // per output, largest coefficient first
  std::vector<double> r_squared;               // [outputs], weighted
  std::vector<double>
      local_predictions;     // [outputs]: what the linear model says of the whole input
  std::vector<double> full;  // [outputs]: what the game says of it
  int64_t evaluations = 0;   // distinct coalitions that were asked for
  bool finished = true;
};

LimeFit lime(Game& game, const LimeOptions& options = {}, const Watch& watch = {});

// ---- Importance over a table ----

struct Table {
  int64_t rows = 0, columns = 0;
  std::vector<double> values = {};  // [rows × columns]
};

// Columns that are shuffled or hidden together; none at all: each column alone.
using ColumnGroups = std::vector<std::vector<int64_t>>;

// How good the model is on `values` [rows × columns], where row i has the target of row rows[i] of
// the table.
using TableScore =
    std::function<double(const std::vector<double>& values, const std::vector<int64_t>& rows)>;

struct PermutationImportanceOptions {
  int64_t repeats = 5;
  uint32_t seed = 0;        // of NumPy's legacy stream
  int64_t max_samples = 0;  // rows to shuffle; 0: all
  ColumnGroups groups = {};
};

struct PermutationImportance {
  double score = 0;                 // of the table as it is, all rows
  std::vector<double> importances;  // [groups × repeats]: how much the score fell
  std::vector<double> means;        // [groups]
  std::vector<double> deviations;   // [groups], of the population
  std::vector<double> errors;  // [groups], standard errors of the means; NaN with one repeat, or
                               // where all shuffles were one
  int64_t repeats = 0;         // those that were finished
  int64_t evaluations = 0;
  bool finished = true;
};

// Breiman's importance with the shuffles of scikit-learn: the same for all columns, each on top of
// the last.
PermutationImportance permutation_importance(const Table& table, const TableScore& score,
                                             const PermutationImportanceOptions& options = {},
                                             const Watch& watch = {});

// Predictions [rows × outputs] for `values` [rows × columns].
using TablePrediction =
    std::function<std::vector<double>(const std::vector<double>& values, int64_t rows)>;
// What a prediction [outputs] costs, given the target of a row of the table.
using PredictionLoss = std::function<double(std::span<const double> prediction, int64_t row)>;

struct SageOptions {
  uint32_t seed = 0;
  double precision =
      0.025;  // stop when the largest standard error is this share of max - min of the values
  int64_t max_draws = 0;  // pairs of a row and an order of the groups; 0: 512 · groups
  ColumnGroups groups = {};
  int64_t max_rows_at_once = 4096;  // per call of the model
};

struct SageValues {
  std::vector<double> values = {}, errors = {};  // [groups]: mean and standard error
  double total = 0;  // loss of the mean prediction less the loss of the model, over the draws
  int64_t draws = 0;
  int64_t evaluations = 0;  // rows that were predicted
  bool finished = true;  // false: the watch or max_draws ended it before the precision was reached
};

// Shapley values of the loss that columns save, hidden ones taken from every row of `background` in
// turn. Every row of the table is drawn before any is drawn again. The values sum to `total`
// exactly; after whole rounds that is what all columns together save over the table.
SageValues sage(const Table& table, const Table& background, const TablePrediction& predict,
                const PredictionLoss& loss, const SageOptions& options = {},
                const Watch& watch = {});

// Rows that stand for a table, and their shares of it.
struct Background {
  Table rows;
  std::vector<double> weights = {};  // sum to 1
};

// The centres of k-means clusters, each coordinate moved to the nearest value that occurs in its
// column. NaN means missing: the mean of its column. Equal to shap.kmeans, which is scikit-learn's
// k-means++ with 10 starts and seed 0, but for exact ties, which hang on rounding: a centre midway
// between two rows, seeds that serve equally well.
Background kmeans_background(const Table& table, int64_t clusters);

}  // namespace whyformer
