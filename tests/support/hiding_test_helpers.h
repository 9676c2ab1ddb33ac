// What tests of methods by hiding share.
#pragma once

#include "methods/method.h"

namespace whyformer {

// For tests that run every method: budgets with which the sampling ones take no time.
inline Options small_budget(const Method& method) {
  Options options;
  for (const OptionInfo& option : method.info.options) {
    if (option.name == "samples") options.emplace_back("samples", int64_t{100});
    if (option.name == "max-evals") options.emplace_back("max-evals", int64_t{5000});
  }
  return options;
}

// The model's answers where some units are hidden, or cells; see Input::hiding.
inline std::vector<std::vector<double>> answers_hiding(Run& explained,
                                                       const std::vector<std::vector<bool>>& hidden,
                                                       const std::string& how) {
  std::vector<Variant> inputs;
  for (const std::vector<bool>& one : hidden) inputs.push_back(explained.input().hiding(one, how));
  return explained.answers(inputs);
}
inline std::vector<double> answer_hiding_cells(Run& explained, const std::vector<bool>& hidden,
                                               const std::string& how) {
  return explained.answers({explained.input().hiding_cells(hidden, how)})[0];
}

}  // namespace whyformer
