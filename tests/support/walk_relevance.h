// Relevance of several values by one walk.
#pragma once

#include <map>

#include "relevance/relevance_walk.h"

namespace whyformer {

// When sample b's output targets[b] is explained. The pass must have kept everything.
inline std::map<Value, Tensor> walk_relevance(const Graph& graph, const Pass& pass, Value output,
                                              const std::vector<int64_t>& targets,
                                              const Policy& policy, RelevanceForm form,
                                              const std::vector<Value>& wanted) {
  RelevanceWalk walk(graph, pass, output, targets, policy, form, wanted);
  std::map<Value, Tensor> found;
  for (const Value value : wanted) found[value] = walk.at(value);
  return found;
}

}  // namespace whyformer
