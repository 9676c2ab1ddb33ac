// Inputs in which each unit is either itself or hidden in place: what depends on one unit alone is
// computed once for both states of every unit, and picked for each input.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "run/unit_states.h"

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

}  // namespace whyformer
