#pragma once

#include <vector>

#include "models/model_graph.h"

namespace whyformer {

// What methods read of the shared run.
struct Needs {
  bool attention = false;
  bool attention_gradient = false;
  bool embedding_gradient = false;  // at every Depth
  bool values = false;              // every value of the run, for methods that look inside layers
};
inline Needs operator|(Needs a, Needs b) {
  return {a.attention || b.attention, a.attention_gradient || b.attention_gradient,
          a.embedding_gradient || b.embedding_gradient, a.values || b.values};
}

// What a run returns for them, beside the output.
std::vector<Value> values_needed(const ModelGraph& graph, const Needs& needs);
inline bool walks_back(const Needs& needs) {
  return needs.attention_gradient || needs.embedding_gradient;
}

}  // namespace whyformer
