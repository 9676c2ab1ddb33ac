// Activation patching: which values inside a model carry its answer? Values of one run are put into
// another, and what becomes of the answer is told in grids of layers by tokens or heads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "whyformer/model.h"

namespace whyformer {

// What is put in place of the corrupted run's values.
struct PatchKindInfo {
  std::string name;     // "residual"
  std::string summary;  // "the stream behind each block, one token at a time"
};

// Every kind, in the order they are listed to people.
std::span<const PatchKindInfo> patch_kinds();

// The number that patching moves.
enum class PatchMetric { kLogit, kProbability, kLogOdds, kLoss };

struct PatchRequest {
  std::vector<std::string> kinds{"residual"};
  TargetChoice target = {};   // nothing: the highest output of the clean run
  TargetChoice against = {};  // the metric is then the target's less this output's
  PatchMetric metric = PatchMetric::kLogit;
  // First-order estimates of all cells, from one backward walk (attribution patching).
  bool preview = true;
  // Share of the cells that are then run, those with the largest estimates first.
  double exact_share = 1;
  Precision precision = Precision::kSingle;
  int64_t seed = 0;
  int64_t memory_bytes = int64_t{1} << 30;
  // Counts patched runs as whole forwards; returning false ends with what there is by then.
  Progress progress = {};
};

// Causal tracing (Meng et al., "Locating and Editing Factual Associations in GPT", NeurIPS 2022):
// the corrupted run is the clean one with noise on the vectors of some tokens.
struct NoiseRequest {
  std::vector<int64_t> tokens = {};  // units of the clean input
  double scale = 3;                  // standard deviations of the model's table of vectors
  int64_t draws = 10;                // the same for all cells
  int64_t window = 1;                // layers that are restored together
};

// Effects of single patches, row after row. Undefined ones are not a number.
struct EffectGrid {
  std::string kind;  // as in patch_kinds(), or what else was done
  std::string row_axis = "layer", column_axis = "token";
  std::vector<std::string> rows, columns;
  std::vector<double> effects;         // shares of the gap that the patch closes, or changes alone
  std::vector<double> changes;         // of the metric, by the patch
  std::vector<double> errors = {};     // standard errors of `effects`; empty without draws
  std::vector<double> previews = {};   // estimates of `effects`; empty without
  std::optional<double> preview_rank;  // Spearman's correlation of both, over cells that were run

  size_t cells() const { return rows.size() * columns.size(); }
};

struct PatchReport {
  static constexpr const char* kSchema = "whyformer.patch/1";

  ModelName model;
  std::string analysis;  // "patching", "causal tracing", "head ablation", …
  Explanation clean;     // units, text and answer; no attributions
  std::optional<Explanation> corrupted;
  std::string target, against, metric;
  double clean_value = 0;  // the metric of both runs
  std::optional<double> corrupted_value;
  // Shares are undefined where both runs have nearly the same metric: changes are told then.
  bool effects_are_shares = true;
  std::vector<EffectGrid> grids;
  Cost cost;
  bool stopped_early = false;
  std::vector<std::string> notes;
};

// Values of the clean run are put into the corrupted one. Inputs of different lengths are patched
// where their units are the same, in order. Throws InvalidInput for inputs of several parts and for
// kinds that this model has no values for.
PatchReport patch(const Model& model, const InputValue& clean, const InputValue& corrupted,
                  const PatchRequest& request);

// The same, with a clean run that noise corrupts.
PatchReport trace_causes(const Model& model, const InputValue& clean, const NoiseRequest& noise,
                         const PatchRequest& request);

// What a head's context is replaced by.
enum class HeadAblation {
  kZero,       // nothing
  kTokenMean,  // its mean over the tokens of the input
};

// What becomes of the metric without each head, one at a time.
PatchReport ablate_heads(const Model& model, const InputValue& input, HeadAblation ablation,
                         const PatchRequest& request);

// The answer that the model's head gives for the stream behind each block, of the token that is
// read, and of every other token in its place (nostalgebraist, "interpreting GPT: the logit lens",
// 2020). The effects are values of the metric.
PatchReport logit_lens(const Model& model, const InputValue& input, const PatchRequest& request);

// Path patching (Wang et al., "Interpretability in the Wild", ICLR 2023): what one head's clean
// output changes through a direct path, with all parts between held as they are in the corrupted
// run: to the output, or to the queries, keys or values of later heads.
struct PathReceiver {
  std::string what = "output";  // or "query", "key", "value"
  int layer = -1;               // of the receiving head
  int head = -1;
};
PatchReport patch_paths(const Model& model, const InputValue& clean, const InputValue& corrupted,
                        const PathReceiver& receiver, const PatchRequest& request);

}  // namespace whyformer
