#include "discovery/layer_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/ops.h"

namespace whyformer {
namespace {

using NodeSet = std::vector<bool>;

class StepFinder {
 public:
  StepFinder(const Graph& graph, Value output)
      : graph_(graph),
        output_(graph.producer(output)),
        alive_(ancestors({output_})),
        marked_(graph.nodes().size(), false),
        depth_(graph.nodes().size(), 0) {}

  LayerSteps by_attention(const std::vector<AttentionSite>& sites) {
    for (const AttentionSite& site : sites) mark_products(site.attention);
    const int layers = find_depths();
    LayerSteps steps{std::vector<int>(size(), -1), layers};
    std::vector<NodeSet> escapes;
    for (int depth = 1; depth <= layers; ++depth) escapes.push_back(avoid_products_of(depth));
    const NodeSet in_last = ancestors(ends_of_last_layer());
    for (int node = 0; node < size(); ++node) {
      if (!alive_[node]) continue;
      const int near = depth_[node];
      if (near == 0)
        steps.of_node[node] = in_last[node] ? 1 : 0;
      else
        steps.of_node[node] = escapes[near - 1][node] ? near + 1 : near;
    }
    return steps;
  }

  LayerSteps by_matrices(const NodeSet& has_matrix) {
    for (int node = 0; node < size(); ++node) marked_[node] = alive_[node] && has_matrix[node];
    find_depths();
    LayerSteps steps{std::vector<int>(size(), -1), 0};
    for (int node = size() - 1; node >= 0; --node) {
      if (!alive_[node]) continue;
      const bool constant = graph_.nodes()[node].inputs.empty();
      // A constant belongs to the first operator that reads it.
      int step = constant ? 0 : depth_[node];
      for (const int user : users(node)) {
        if (constant) step = std::max(step, steps.of_node[user]);
      }
      steps.of_node[node] = step;
      steps.layers = std::max(steps.layers, step);
    }
    return steps;
  }

 private:
  int size() const { return static_cast<int>(graph_.nodes().size()); }

  std::vector<int> users(int node) const {
    std::vector<int> all;
    for (const Value output : graph_.nodes()[node].outputs) {
      for (const int user : graph_.users(output)) {
        if (alive_[user]) all.push_back(user);
      }
    }
    return all;
  }

  // With the nodes themselves.
  NodeSet ancestors(const std::vector<int>& nodes) const {
    NodeSet found(graph_.nodes().size(), false);
    for (const int node : nodes) found[node] = true;
    for (int node = size() - 1; node >= 0; --node) {
      if (!found[node]) continue;
      for (const Value input : graph_.nodes()[node].inputs) {
        if (graph_.producer(input) >= 0) found[graph_.producer(input)] = true;
      }
    }
    return found;
  }

  NodeSet descendants(int from) const {
    NodeSet found(graph_.nodes().size(), false);
    found[from] = true;
    for (int node = from; node < size(); ++node) {
      for (const int user : found[node] ? users(node) : std::vector<int>()) found[user] = true;
    }
    return found;
  }

  // The products of a map with values, behind whatever cuts or moves the map.
  void mark_products(Value attention) {
    std::vector<int> open{graph_.producer(attention)};
    NodeSet seen(graph_.nodes().size(), false);
    bool any = false;
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      for (const int user : users(node)) {
        if (seen[user]) continue;
        seen[user] = true;
        if (is_a<ops::MatMul>(*graph_.nodes()[user].op))
          marked_[user] = any = true;
        else
          open.push_back(user);
      }
    }
    if (!any) marked_[graph_.producer(attention)] = true;
  }

  // Of every node the most marked nodes on a path from it to the output, itself not counted.
  int find_depths() {
    int deepest = 0;
    for (int node = size() - 1; node >= 0; --node) {
      if (!alive_[node]) continue;
      for (const int user : users(node))
        depth_[node] = std::max(depth_[node], depth_[user] + (marked_[user] ? 1 : 0));
      deepest = std::max(deepest, depth_[node] + (marked_[node] ? 1 : 0));
    }
    return deepest;
  }

  bool is_product_of(int depth, int node) const {
    return marked_[node] && depth_[node] + 1 == depth;
  }

  // Nodes with a path to the output that passes no product of this depth.
  NodeSet avoid_products_of(int depth) const {
    NodeSet found(graph_.nodes().size(), false);
    for (int node = size() - 1; node >= 0; --node) {
      if (!alive_[node]) continue;
      found[node] = node == output_;
      for (const int user : users(node)) {
        if (found[user] && !is_product_of(depth, user)) found[node] = true;
      }
    }
    return found;
  }

  bool is_residual_addition(int node) const {
    const Node& add = graph_.nodes()[node];
    return is_a<ops::Add>(*add.op) && graph_.varies(add.inputs[0]) &&
           graph_.varies(add.inputs[1]) &&
           graph_.shape(add.inputs[0]) == graph_.shape(add.inputs[1]);
  }

  // Residual additions behind a product and in front of everything of a smaller depth.
  std::vector<int> additions_behind(int product, const NodeSet& within) const {
    const NodeSet behind = descendants(product);
    std::vector<int> additions;
    for (int node = product; node < size(); ++node) {
      if (behind[node] && within[node] && depth_[node] == depth_[product] &&
          is_residual_addition(node))
        additions.push_back(node);
    }
    return additions;
  }

  // The norm that alone reads an addition, or -1.
  int norm_behind(int addition) const {
    const std::vector<int> readers = users(addition);
    if (readers.size() != 1) return -1;
    const Op& op = *graph_.nodes()[readers[0]].op;
    return is_a<ops::LayerNorm, ops::RmsNorm>(op) ? readers[0] : -1;
  }

  int end_of_layer(int product) const {
    const std::vector<int> additions = additions_behind(product, alive_);
    if (additions.empty()) return product;
    size_t count = std::min<size_t>(2, additions.size());
    bool norms_after = norm_behind(additions[0]) >= 0;
    const NodeSet before = ancestors({product});
    for (int node = product - 1; node >= 0; --node) {
      if (!before[node] || !is_product_of(2, node)) continue;
      const std::vector<int> model = additions_behind(node, before);
      count = std::min(model.size(), additions.size());
      norms_after = !model.empty() && norm_behind(model.back()) >= 0;
      break;
    }
    if (count == 0) return product;
    const int last = additions[count - 1];
    return norms_after && norm_behind(last) >= 0 ? norm_behind(last) : last;
  }

  std::vector<int> ends_of_last_layer() const {
    std::vector<int> ends;
    for (int node = 0; node < size(); ++node) {
      if (alive_[node] && is_product_of(1, node)) ends.push_back(end_of_layer(node));
    }
    return ends;
  }

  const Graph& graph_;
  int output_;
  NodeSet alive_;   // the output depends on it
  NodeSet marked_;  // products of attention with values, or matrices
  std::vector<int> depth_;
};

}  // namespace

std::string LayerSteps::name(int step) const {
  if (step == 0) return "head";
  return step > layers ? "embeddings" : fmt::format("layer {}", layers - step);
}

LayerSteps find_layer_steps(const Graph& graph, const std::vector<AttentionSite>& sites,
                            Value output, const std::vector<bool>& has_matrix) {
  if (graph.producer(output) < 0) return {std::vector<int>(graph.nodes().size(), -1), 0};
  StepFinder finder(graph, output);
  return sites.empty() ? finder.by_matrices(has_matrix) : finder.by_attention(sites);
}

}  // namespace whyformer
