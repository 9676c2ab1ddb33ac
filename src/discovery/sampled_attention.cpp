#include "discovery/sampled_attention.h"

#include "ops/ops.h"

#include <set>

namespace whyformer {
namespace {

bool only_moves(const Op& op) {
  return is_a<ops::Reshape, ops::Transpose, ops::Slice, ops::StridedSlice, ops::Concat, ops::Expand,
              ops::Gather, ops::Cast, ops::Pad>(op);
}

}  // namespace

std::vector<std::string> sampled_attention(const Graph& graph) {
  std::vector<const Node*> weights(graph.value_count(),
                                   nullptr);  // the softmax whose weights a value has
  std::vector<bool> sampled(graph.value_count(), false);
  std::vector<std::string> found;
  std::set<const Node*> listed;
  for (const Node& node : graph.nodes()) {
    const int out = node.outputs[0].id;
    if (is_a<ops::Softmax>(*node.op)) weights[out] = &node;
    sampled[out] = is_a<ops::GridSample>(*node.op);
    if (only_moves(*node.op)) {
      for (const Value input : node.inputs) {
        sampled[out] = sampled[out] || sampled[input.id];
        if (weights[out] == nullptr) weights[out] = weights[input.id];
      }
    }
    if (!is_a<ops::Mul, ops::MatMul>(*node.op)) continue;
    for (const int place : {0, 1}) {
      const Node* softmax = weights[node.inputs[place].id];
      if (softmax == nullptr || !sampled[node.inputs[1 - place].id] ||
          !listed.insert(softmax).second)
        continue;
      found.push_back(softmax->name);
    }
  }
  return found;
}

}  // namespace whyformer
