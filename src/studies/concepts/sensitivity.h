// Many directions at once: each is fitted from the Gram matrix, scored on every target, and tried
// on examples it has not seen.
#pragma once

#include <functional>

#include "studies/concepts/cav.h"
#include "studies/concepts/gram.h"
#include "whyformer/concepts.h"

namespace whyformer {

// Gradients [first, first + count) belong to one target.
struct TargetRange {
  int64_t first = 0;
  int64_t count = 0;
};

// Shares and means over the gradients of a target.
Sensitivity sensitivity_to(const InnerProducts& products, const Cav& cav,
                           const TargetRange& target);

enum class HoldOut { kNo, kThirds };

// Fit these rows against those.
struct CavJob {
  ExampleRows concept_rows, counterpart;
  HoldOut hold_out = HoldOut::kNo;
  int64_t draw = 0;  // which random split to hold out by
};

struct CavOutcome {
  std::vector<Sensitivity> by_target = {};
  int64_t hits = 0;  // held-out examples on their own side
  int64_t tries = 0;
};

// Each example is held out once: a third of either side at a time is classified by a fit of the
// others.
void try_held_out(const InnerProducts& products, const CavJob& job, const CavOptions& options,
                  int64_t seed, CavOutcome& outcome);

struct JobSettings {
  CavOptions cav = {};
  int64_t seed = 0;
  std::function<void(int64_t fits)> done = {};  // after every few jobs; may throw to stop
};

std::vector<CavOutcome> run_jobs(const InnerProducts& products,
                                 const std::vector<TargetRange>& targets,
                                 const std::vector<CavJob>& jobs, const JobSettings& settings);

}  // namespace whyformer
