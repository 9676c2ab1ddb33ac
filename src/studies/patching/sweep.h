// Grids of single patches: each cell is a run that goes on with one value of a clean run in place
// of the corrupted run's own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/patching/cell_patch.h"
#include "studies/patching/patched_run.h"

namespace whyformer {

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
  std::function<void(double forwards)> expect;  // told in front of the runs
};

struct Swept {
  // `changes` alone: add_effects makes shares of them. By kind; those that were stopped before they
  // began have no grid.
  std::vector<EffectGrid> grids = {};
  bool stopped = false;  // by the user: cells that were not run are not a number
};

// Throws InvalidInput where the model has no values of one of these kinds.
Swept sweep(const std::vector<std::string>& kinds, const PatchedRun& clean,
            const PatchedRun& corrupted, const SweepSettings& settings, const SweepWork& work);

// Fills `effects`: changes as shares of the gap between both runs, or as they are where the gap is
// too small to divide by; then false.
bool add_effects(double clean, double corrupted, EffectGrid& grid);

}  // namespace whyformer
