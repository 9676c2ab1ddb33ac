// Running a graph. A run returns the values that were asked for and what a backward walk needs;
// nothing is set on the model and nothing has to be restored.
#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"

namespace whyformer {

enum class Keep {
  kOutputs,    // only the values asked for
  kGradients,  // and what the gradient walk reads
  kEverything  // every value: what rerun and relevance walks start from
};

struct RunOptions {
  Keep keep = Keep::kOutputs;
  std::vector<Value> outputs;  // values to return; nodes that none of them needs do not run
};

// The values of one run; those not kept are undefined.
class Pass {
 public:
  const Tensor& operator[](Value value) const { return values[value.id]; }

  std::vector<Tensor> values;  // by value id
  std::vector<Tensors> kept;   // by node: what its forward left for the way back
  // By value, whether it was fed, so that nothing passes through it on the way back; may be empty.
  std::vector<bool> given = {};
};

using Feeds = std::map<Value, Tensor>;

// Feeds give every input of the graph, and may replace any other value: what makes it does not run.
// Throws InvalidInput where a feed is missing or has another shape than the graph was built for.
Pass run(const Graph& graph, const Feeds& feeds, const RunOptions& options);

// The pass with some values replaced, recomputing only what depends on them. `pass` must have kept
// everything; the result has too.
Pass rerun(const Graph& graph, const Pass& pass, const Feeds& overrides);

}  // namespace whyformer
