// A large plan of coalitions takes seconds to draw. Its start is known at once and is a fair sample
// by itself, so that there is an estimate however early the user ends it.
#pragma once

#include <cstdint>
#include <vector>

#include "games/kernel_coalitions.h"

namespace whyformer {

struct KernelStart {
  // Rows of sizes that it has in full, with their weights, then the others. No draws: what is known
  // of it becomes a sample by beginning_of().
  KernelCoalitions coalitions = {};
  std::vector<int64_t> order = {};      // in which to ask about them
  std::vector<int64_t> plan_rows = {};  // of each: which row of kernel_coalitions() it is
  int64_t drawn = 0;                    // those that the plan draws: its first ones

  bool empty() const { return plan_rows.empty(); }
  int64_t rows() const { return static_cast<int64_t>(plan_rows.size()); }
};

// Of the plan with the same arguments, with at most `most_drawn` of the rows that it draws. Empty
// where the plan is drawn in no time.
KernelStart kernel_start(int64_t players, int64_t samples, uint32_t seed, int64_t most_drawn);

}  // namespace whyformer
