// What reports say of how far an explanation can be trusted.
#pragma once

#include <string>
#include <vector>

#include "whyformer/explanation.h"

namespace whyformer::report {

// "better than random", "like a random ranking", "worse than random".
std::string verdict_words(TrustVerdict verdict);

// Two lines for a method: the verdict with its numbers, and what else is known. Empty where trust
// was not measured.
std::vector<std::string> trust_lines(const Attribution& attribution);

// How it was measured, and what that can and cannot show; empty where it was not.
std::vector<std::string> trust_setting_lines(const Explanation& explanation);

}  // namespace whyformer::report
