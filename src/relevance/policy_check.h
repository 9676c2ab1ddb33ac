// Whether the rules that somebody wrote down speak of the model at hand.
#pragma once

#include <string>
#include <vector>

#include "relevance/policy.h"

namespace whyformer {

// Notes on rules of the policy's file that change nothing in this graph. Throws InvalidInput where
// a rule names, without
// `*`, an operator that does not exist, or a node that this graph does not have; the nearest names
// are told.
std::vector<std::string> check_policy(const Policy& policy, const Graph& graph);

}  // namespace whyformer
