#include "kernels/targets.h"

#include <hwy/targets.h>

namespace whyformer {

std::vector<std::string> supported_target_names() {
  std::vector<std::string> names;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

}  // namespace whyformer
