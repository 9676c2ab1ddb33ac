// Which players Kernel SHAP keeps.
#pragma once

#include <cstdint>
#include <vector>

#include "games/augmented_system.h"
#include "whyformer/games.h"

namespace whyformer {

// Columns in order of entry where they were counted, else ascending.
std::vector<int64_t> select_players(const KernelSelection& selection, const GramSystem& system);

// Of those `kAuto` chooses between: what it comes to when this share of all coalitions is seen.
KernelSelection settled(KernelSelection selection, double share_seen);

}  // namespace whyformer
