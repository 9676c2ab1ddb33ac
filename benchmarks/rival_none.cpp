#include "gemm.h"

namespace whyformer {

std::vector<Contender> rivals_for(const WeightProduct&) { return {}; }
std::vector<Contender> rivals_for(const HeadProducts&) { return {}; }

}  // namespace whyformer
