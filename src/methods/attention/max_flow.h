// Maximum flow through layers of tokens (Dinic's algorithm), for attention flow.
#pragma once

#include <cstdint>
#include <vector>

#include "run/attention_math.h"

namespace whyformer {

// Edge (layer l+1, i) → (layer l, j) with capacity layers[l].at(i, j); layers[0] is nearest the
// input.
class LayeredFlow {
 public:
  explicit LayeredFlow(const std::vector<Matrix>& layers);

  // Maximum flow from token `source` above the last layer to token `sink` at the input. Stops as
  // soon as it reaches the bound that the capacities at both ends set.
  struct Result {
    double flow = 0;
    bool at_bound = false;
  };
  Result between(int64_t source, int64_t sink);

 private:
  struct Edge {
    int to;
    int back;  // index of the reverse edge in edges_[to]
    double capacity;
    double original;
  };
  bool find_levels(int source, int sink);
  double push(int node, int sink, double most);

  int64_t tokens_;
  int64_t layers_;
  std::vector<double> leaving_;   // total capacity out of each source
  std::vector<double> arriving_;  // total capacity into each input token
  std::vector<std::vector<Edge>> edges_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace whyformer
