// What depends on one unit of an input alone: embeddings, and the first layer's queries, keys and
// values. Inputs whose units are each in one of a few states have it computed once for each state.
#pragma once

#include <vector>

#include "models/graph_source.h"

namespace whyformer {

// Values [inputs, units, numbers] that are made unit by unit from the embeddings, and that
// something reads which mixes units; in the graph's order.
std::vector<Value> values_of_single_units(const ModelGraph& graph);

// Those of a run.
std::vector<Tensor> run_up_to(const FedGraph& inputs, const std::vector<Value>& values);

// The state that each unit of each input is in.
struct PickedStates {
  int64_t units = 0;
  std::vector<int64_t> numbers = {};  // [inputs, units]

  int64_t inputs() const { return static_cast<int64_t>(numbers.size()) / units; }
};

// [inputs, units, numbers] from `states` [states, units, numbers]: each unit as it is in its state.
Tensor pick(const Tensor& states, const PickedStates& picked);

}  // namespace whyformer
