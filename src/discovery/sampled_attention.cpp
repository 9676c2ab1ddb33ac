#include "discovery/sampled_attention.h"

#include <set>

namespace whyformer {
namespace {

bool only_moves(std::string_view kind) {
  static const std::set<std::string_view> kinds{
      "Reshape", "Transpose", "Slice", "StridedSlice", "Concat", "Expand", "Gather", "Cast", "Pad"};
  return kinds.contains(kind);
}

}  // namespace

std::vector<std::string> sampled_attention(const Graph& graph) {
  std::vector<const Node*> weights(graph.value_count(),
                                   nullptr);  // the softmax whose weights a value has
  std::vector<bool> sampled(graph.value_count(), false);
  std::vector<std::string> found;
  std::set<const Node*> listed;
  for (const Node& node : graph.nodes()) {
    const std::string_view kind = node.op->kind();
    const int out = node.outputs[0].id;
    if (node.op->is_softmax()) weights[out] = &node;
    sampled[out] = kind == "GridSample";
    if (only_moves(kind)) {
      for (const Value input : node.inputs) {
        sampled[out] = sampled[out] || sampled[input.id];
        if (weights[out] == nullptr) weights[out] = weights[input.id];
      }
    }
    if (kind != "Mul" && kind != "MatMul") continue;
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
