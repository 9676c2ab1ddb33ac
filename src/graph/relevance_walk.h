// Relevance on its way back through a graph, and what became of it at every node.
#pragma once

#include "graph/policy.h"
#include "graph/walk_back.h"

namespace whyformer {

// Relevance that reached a node's output and that left it for its inputs, over all samples.
struct NodeFlow {
  int node = -1;
  RuleKind rule = RuleKind::kIdentity;
  double entering = 0;
  double leaving = 0;
  double entering_magnitude = 0;  // Σ|R|
  double leaving_magnitude = 0;
};

// Two ways to say the same where both are defined: relevance itself, or gradients that are multiplied
// by the value at the end (gradient × input).
enum class RelevanceForm { kExplicit, kGradient };

// The policy's rules as what walk_back does at each node. Must not outlive the graph or the policy.
class PolicyRule final : public LocalRule {
 public:
  PolicyRule(const Graph& graph, const Policy& policy, RelevanceForm form,
             std::vector<NodeFlow>* flows = nullptr)
      : graph_(graph), policy_(policy), form_(form), flows_(flows) {}
  Tensors back(const Node& node, const Call& call, TensorSpan from_outputs,
               const Wanted& wanted) const override;

 private:
  Rule rule_at(const Node& node) const;

  const Graph& graph_;
  const Policy& policy_;
  RelevanceForm form_;
  std::vector<NodeFlow>* flows_;
};

// Relevance of each wanted value when sample b's output targets[b] is explained. The pass must have
// kept everything. `flows`, if given, gets one entry per node that was passed, output first.
std::map<Value, Tensor> walk_relevance(const Graph& graph, const Pass& pass, Value output,
                                       const std::vector<int64_t>& targets, const Policy& policy,
                                       RelevanceForm form, const std::vector<Value>& wanted,
                                       std::vector<NodeFlow>* flows = nullptr);

}  // namespace whyformer
