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
  // Whether two nodes may be passed in one step by OpPair::gradient.
  virtual bool takes_pairs() const { return false; }
};

const LocalRule& gradient_rule();

// A walk that goes only as far down as what is asked for, and goes on from there when more is
// asked. Must not outlive the graph, the pass or the rule.
class BackwardWalk {
 public:
  BackwardWalk(const Graph& graph, const Pass& pass, Value from, Tensor seed, const LocalRule& rule,
               const std::vector<Value>& wanted);

  // What arrived at one of the wanted values: zeros where `from` does not depend on it.
  Tensor at(Value value);

 private:
  void pass_node(const Node& node, size_t index);
  const NodePair* pair_to_take(const Node& node, size_t index) const;

  const Graph& graph_;
  const Pass& pass_;
  const LocalRule& rule_;
  std::vector<bool> on_the_way_, is_wanted_;
  std::vector<Tensor> arrived_;
  size_t next_;  // nodes from here on are done
};

// Walks from `from`, whose gradient or relevance is `seed`, to the wanted values. Nothing is
// computed that no wanted value needs; there are no weight gradients. A wanted value that `from`
// does not depend on gets zeros, also where that is because a value between was fed.
std::map<Value, Tensor> walk_back(const Graph& graph, const Pass& pass, Value from,
                                  const Tensor& seed, const LocalRule& rule,
                                  const std::vector<Value>& wanted);

}  // namespace whyformer
