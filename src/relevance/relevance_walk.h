// Relevance on its way back through a graph, and what became of it at every node.
#pragma once

#include "graph/walk_back.h"
#include "relevance/policy.h"
#include "tensor/map.h"

namespace whyformer {

// Relevance that reached a node's output and that left it for its inputs, over all samples.
struct NodeFlow {
  int node = -1;
  RuleKind rule = RuleKind::kIdentity;
  Sums entering;
  Sums leaving;
};

// Two ways to say the same where both are defined: relevance itself, or gradients that are
// multiplied by the value at the end (gradient × input).
enum class RelevanceForm { kExplicit, kGradient };

// The policy's rules as what a backward walk does at each node; `flows`, where not null, gets an
// entry for each. Must not outlive what it was made from.
class PolicyRule final : public LocalRule {
 public:
  PolicyRule(const Graph& graph, const Policy& policy, RelevanceForm form,
             std::vector<NodeFlow>* flows)
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

// Relevance on its way from sample b's output targets[b] to the wanted values, as far down as
// asked. The pass must have kept everything. Must not outlive graph and pass.
class RelevanceWalk {
 public:
  // Noting what passes each node takes a sixth of the time.
  enum class Notes { kNone, kFlows };
  RelevanceWalk(const Graph& graph, const Pass& pass, Value output,
                const std::vector<int64_t>& targets, Policy policy, RelevanceForm form,
                const std::vector<Value>& wanted, Notes notes = Notes::kNone);
  RelevanceWalk(const RelevanceWalk&) = delete;

  Tensor at(Value value);
  // One entry per node passed so far, output first.
  const std::vector<NodeFlow>& flows() const { return flows_; }

 private:
  const Pass& pass_;
  Policy policy_;
  RelevanceForm form_;
  std::vector<NodeFlow> flows_;
  PolicyRule rule_;
  BackwardWalk walk_;
};

}  // namespace whyformer
