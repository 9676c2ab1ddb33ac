// In which order Kernel SHAP asks about its coalitions, and what is known of them when it is ended
// in between.
#pragma once

#include <cstdint>
#include <vector>

#include "games/kernel_coalitions.h"

namespace whyformer {

// Rows of `planned` so that every beginning is about what a smaller budget had drawn: of each size
// its share of the weight, at random among coalitions of one size, each next to its complement.
std::vector<int64_t> asking_order(const KernelCoalitions& planned, uint32_t seed);

// The same for enumerated rows, then the drawn ones as they were drawn.
std::vector<int64_t> enumerated_first(const KernelCoalitions& planned, uint32_t seed);

// The first `count` of `order` as a sample of their own: sizes of which every coalition is known
// are enumerated, the others drawn. `rows` are those of `planned` that it is made of; a coalition
// without its complement is none of them.
struct KernelBeginning {
  KernelCoalitions coalitions;
  std::vector<int64_t> rows;
};
KernelBeginning beginning_of(const KernelCoalitions& planned, const std::vector<int64_t>& order,
                             int64_t count);

}  // namespace whyformer
