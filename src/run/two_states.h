// Inputs in which each unit is either itself or hidden in place. What depends on one unit alone
// (embeddings, and the first layer's queries, keys and values) is computed once for both states of
// every unit, and picked for each input.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "models/graph_source.h"

namespace whyformer {

using HiddenUnits = std::vector<std::vector<bool>>;  // [input][unit]

class TwoStates {
 public:
  // `make` gives the run of inputs without this class's help; it is called the first time only.
  using MakeRun = std::function<FedGraph(const HiddenUnits&)>;

  // Adds the values of single units to the run's feeds, so that what makes them does not run.
  void feed(FedGraph& inputs, const HiddenUnits& hidden, const MakeRun& make) const;

 private:
  // Each [2, units, numbers]; empty where picking does not give what running gives.
  mutable std::optional<std::vector<Tensor>> states_;
};

// Values [inputs, units, numbers] that are made unit by unit from the embeddings, and that
// something reads which mixes units; in the graph's order.
std::vector<Value> values_of_single_units(const ModelGraph& graph);

}  // namespace whyformer
