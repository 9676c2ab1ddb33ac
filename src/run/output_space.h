// In which numbers an answer is explained.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/config.h"
#include "whyformer/methods.h"

namespace whyformer {

enum class OutputSpace {
  kLogit,        // what the model gives: a logit, a value or a similarity
  kProbability,  // softmax, or sigmoid where several labels may hold
  kLogOdds       // log(p / (1 - p)); for one of two labels the difference of their logits
};

// Output `target` in that space. Throws InvalidInput for probabilities of what is no classifier.
double in_space(OutputSpace space, const std::vector<double>& outputs, int64_t target,
                std::optional<Problem> problem);

// Of every output of a classifier.
std::vector<double> probabilities_of(std::vector<double> outputs, Problem problem);

// The option that chooses it.
OptionInfo space_option(const std::string& fallback = "logit");
OutputSpace space_named(const std::string& name);

}  // namespace whyformer
