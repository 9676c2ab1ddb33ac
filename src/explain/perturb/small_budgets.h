// For tests that run every method: budgets with which the sampling ones take no time.
#pragma once

#include "explain/method.h"

namespace whyformer {

inline Options small_budget(const Method& method) {
  Options options;
  for (const OptionInfo& option : method.info.options) {
    if (option.name == "samples") options.emplace_back("samples", int64_t{100});
    if (option.name == "max-evals") options.emplace_back("max-evals", int64_t{5000});
  }
  return options;
}

}  // namespace whyformer
