// Grids of single patches: each cell is a run that goes on with one value of a clean run in place
// of the corrupted run's own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/patching/patched_run.h"

namespace whyformer {

// Which unit of the clean input stands for each unit of the corrupted one; -1 where none does.
using AlignedUnits = std::vector<int64_t>;

// Of equally many units each to its own; otherwise the longest sequence of equal units.
AlignedUnits align_units(const std::vector<Unit>& clean, const std::vector<Unit>& corrupted);

// One kind of values that are patched.
struct PatchKind {
  enum class Cells { kTokens, kHeads, kHeadsAndTokens };
  PatchKindInfo info;
  std::string part;  // of a block: "attention.context"
  Cells cells = Cells::kTokens;
  bool from_input = false;  // what enters the first block has a row, too
};
const PatchKind& patch_kind_named(const std::string& name);

struct SweepSettings {
  bool preview = true;
  double exact_share = 1;
  int64_t window = 1;  // layers patched together, the row's own in the middle
};

struct SweepWork {
  const AnswerMetric& metric;
  const AlignedUnits& aligned;
  RunsMade made;
  RunsMade left_out = {};  // cells that are known without a run
};

struct Swept {
  EffectGrid grid;       // `changes` alone: add_effects makes shares of them
  bool stopped = false;  // by the user: cells that were not run are not a number
};

// Throws InvalidInput where the model has no values of this kind.
Swept sweep(const PatchKind& kind, const PatchedRun& clean, const PatchedRun& corrupted,
            const SweepSettings& settings, const SweepWork& work);

// How many runs a sweep takes at most.
int64_t sweep_runs(const PatchKind& kind, const PatchedRun& run);

// Fills `effects`: changes as shares of the gap between both runs, or as they are where the gap is
// too small to divide by; then false.
bool add_effects(double clean, double corrupted, EffectGrid& grid);

}  // namespace whyformer
