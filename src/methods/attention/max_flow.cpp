#include "methods/attention/max_flow.h"

#include <algorithm>
#include <queue>

#include "base/pulse.h"

namespace whyformer {
namespace {

constexpr double kNothing = 1e-12;  // capacities are probabilities; less than this is no flow

}  // namespace

LayeredFlow::LayeredFlow(const std::vector<Matrix>& layers)
    : tokens_(layers[0].rows),
      layers_(static_cast<int64_t>(layers.size())),
      leaving_(tokens_, 0.0),
      arriving_(tokens_, 0.0),
      edges_((layers_ + 1) * tokens_) {
  for (int64_t layer = 0; layer < layers_; ++layer) {
    for (int64_t i = 0; i < tokens_; ++i) {
      for (int64_t j = 0; j < tokens_; ++j) {
        const double capacity = layers[layer].at(i, j);
        if (layer == layers_ - 1) leaving_[i] += capacity;
        if (layer == 0) arriving_[j] += capacity;
        if (capacity <= kNothing) continue;
        const auto from = static_cast<int>((layer + 1) * tokens_ + i);
        const auto to = static_cast<int>(layer * tokens_ + j);
        edges_[from].push_back({to, static_cast<int>(edges_[to].size()), capacity, capacity});
        edges_[to].push_back({from, static_cast<int>(edges_[from].size()) - 1, 0, 0});
      }
    }
  }
}

LayeredFlow::Result LayeredFlow::between(int64_t source, int64_t sink) {
  for (auto& edges : edges_) {
    for (Edge& edge : edges) edge.capacity = edge.original;
  }
  const auto from = static_cast<int>(layers_ * tokens_ + source);
  const auto to = static_cast<int>(sink);
  const double bound = std::min(leaving_[source], arriving_[sink]);
  Result result;
  while (bound - result.flow > kNothing && find_levels(from, to)) {
    next_.assign(edges_.size(), 0);
    while (true) {
      pulse();
      const double pushed = push(from, to, bound - result.flow);
      if (pushed <= kNothing) break;
      result.flow += pushed;
    }
  }
  result.at_bound = bound - result.flow <= kNothing * static_cast<double>(tokens_);
  return result;
}

bool LayeredFlow::find_levels(int source, int sink) {
  level_.assign(edges_.size(), -1);
  level_[source] = 0;
  std::queue<int> waiting({source});
  while (!waiting.empty()) {
    const int node = waiting.front();
    waiting.pop();
    for (const Edge& edge : edges_[node]) {
      if (edge.capacity <= kNothing || level_[edge.to] >= 0) continue;
      level_[edge.to] = level_[node] + 1;
      waiting.push(edge.to);
    }
  }
  return level_[sink] >= 0;
}

double LayeredFlow::push(int node, int sink, double most) {
  if (node == sink || most <= kNothing) return most;
  double sent = 0;
  for (size_t& i = next_[node]; i < edges_[node].size(); ++i) {
    Edge& edge = edges_[node][i];
    if (edge.capacity <= kNothing || level_[edge.to] != level_[node] + 1) continue;
    const double pushed = push(edge.to, sink, std::min(most - sent, edge.capacity));
    if (pushed <= 0) continue;
    edge.capacity -= pushed;
    edges_[edge.to][edge.back].capacity += pushed;
    sent += pushed;
    // Not past this edge: it may still have room for the next push.
    if (most - sent <= kNothing) return sent;
  }
  return sent;
}

}  // namespace whyformer
