// The one backward walk: gradients and relevance differ only in the local rule.
#pragma once

#include <map>
#include <vector>

#include "graph/pass.h"

namespace whyformer {

// What happens at one operator on the way back. A result that is undefined carries nothing further.
class LocalRule {
 public:
  virtual ~LocalRule() = default;
  virtual Tensors back(const Node& node, const Call& call, TensorSpan from_outputs,
                       const Wanted& wanted) const = 0;
};

const LocalRule& gradient_rule();

// Walks from `from`, whose gradient or relevance is `seed`, to the wanted values. Nothing is computed
// that no wanted value needs; there are no weight gradients. A wanted value that `from` does not
// depend on gets zeros.
std::map<Value, Tensor> walk_back(const Graph& graph, const Pass& pass, Value from,
                                  const Tensor& seed, const LocalRule& rule,
                                  const std::vector<Value>& wanted);

}  // namespace whyformer
