#include "whyformer/version.h"

#include "api/commit.h"
#include "kernels/targets.h"

namespace whyformer {

std::string version() { return WHYFORMER_VERSION; }

std::string commit() { return std::string(kCommit); }

std::vector<std::string> instruction_sets() { return supported_target_names(); }

}  // namespace whyformer
