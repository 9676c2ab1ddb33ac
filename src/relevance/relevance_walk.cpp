#include "relevance/relevance_walk.h"

#include <fmt/format.h>

#include "ops/layers.h"
#include "ops/ops.h"
#include "tensor/map.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The gradient that gives, times input, what the rule gives.
Tensors gradient_form(const Node& node, const Call& call, TensorSpan from, const Rule& rule,
                      const Wanted& wanted) {
  if (rule.kind == RuleKind::kStop) return Tensors(call.inputs.size());
  if (rule.kind == RuleKind::kGradient) return node.op->gradient(call, from, wanted);
  const bool identity_of_function =
      rule.kind == RuleKind::kIdentity && is_a<ops::Activation, ops::L2Normalise>(*node.op);
  if (rule.kind != RuleKind::kProportional && !identity_of_function) {
    throw InvalidInput(fmt::format("the rule '{}' of {} '{}' has no gradient × input form",
                                   name_of(rule.kind), node.op->kind(), node.name));
  }
  Tensors results = node.op->linearised(call, from, wanted);
  for (size_t i = 0; i < results.size() && results.size() == 2; ++i) {
    const double share = rule.shares[i];
    if (!results[i].defined() || share == 1) continue;
    results[i] = share == 0 ? Tensor()
                            : map([share](auto x) { return x * static_cast<decltype(x)>(share); },
                                  results[i]);
  }
  return results;
}

Sums total(TensorSpan tensors) {
  Sums sums;
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    const Sums part = sums_of(tensor);
    sums.plain += part.plain;
    sums.magnitude += part.magnitude;
  }
  return sums;
}

}  // namespace

// A product with a constant is linear in its other factor, which takes everything.
Rule PolicyRule::rule_at(const Node& node) const {
  Rule rule = policy_.rule_for(node);
  if (node.inputs.size() != 2 || rule.shares == std::array<double, 2>{1, 1}) return rule;
  const bool left = graph_.varies(node.inputs[0]);
  const bool right = graph_.varies(node.inputs[1]);
  if (left != right) rule.shares = {left ? 1.0 : 0.0, right ? 1.0 : 0.0};
  return rule;
}

Tensors PolicyRule::back(const Node& node, const Call& call, TensorSpan from_outputs,
                         const Wanted& wanted) const {
  const bool moves = node.op->moves_data();
  const Rule rule = moves ? Rule{.kind = RuleKind::kIdentity} : rule_at(node);
  Tensors results;
  if (moves) {
    results = node.op->gradient(call, from_outputs, wanted);
  } else if (form_ == RelevanceForm::kGradient) {
    results = gradient_form(node, call, from_outputs, rule, wanted);
  } else {
    results = node.op->relevance(call, from_outputs, rule, wanted);
  }
  if (flows_ != nullptr) {
    flows_->push_back({static_cast<int>(&node - graph_.nodes().data()), rule.kind,
                       total(from_outputs), total(results)});
  }
  return results;
}

namespace {

Tensor seed_of(const Graph& graph, const Pass& pass, Value output,
               const std::vector<int64_t>& targets, Policy::Seed start, RelevanceForm form) {
  Tensor seed = Tensor::zeros(graph.shape(output), graph.type(output).dtype);
  for (size_t sample = 0; sample < targets.size(); ++sample) {
    const auto at = static_cast<int64_t>(sample);
    Tensor entry = seed.select(0, at).slice(0, targets[sample], 1);
    // The gradient form starts from 1 as well: times the output it is the output.
    if (start == Policy::Seed::kOne || form == RelevanceForm::kGradient)
      entry.fill(1);
    else
      entry.copy_from(pass[output].select(0, at).slice(0, targets[sample], 1));
  }
  return seed;
}

}  // namespace

RelevanceWalk::RelevanceWalk(const Graph& graph, const Pass& pass, Value output,
                             const std::vector<int64_t>& targets, Policy policy, RelevanceForm form,
                             const std::vector<Value>& wanted, Notes notes)
    : pass_(pass),
      policy_(std::move(policy)),
      form_(form),
      rule_(graph, policy_, form, notes == Notes::kFlows ? &flows_ : nullptr),
      walk_(graph, pass, output, seed_of(graph, pass, output, targets, policy_.seed, form), rule_,
            wanted) {}

Tensor RelevanceWalk::at(Value value) {
  const Tensor found = walk_.at(value);
  if (form_ == RelevanceForm::kExplicit) return found;
  return map([](auto g, auto x) { return g * x; }, found, pass_[value]);
}

}  // namespace whyformer
