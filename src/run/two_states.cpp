#include "run/two_states.h"

namespace whyformer {
namespace {

// Fewer inputs cost less than the states do.
constexpr size_t kFewestInputs = 4;

PickedStates states_hidden(const HiddenUnits& hidden) {
  PickedStates picked{.units = static_cast<int64_t>(hidden[0].size())};
  for (const std::vector<bool>& one : hidden)
    picked.numbers.insert(picked.numbers.end(), one.begin(), one.end());
  return picked;
}

// Every unit's two states. Not every model keeps units apart at its input (a stem of convolutions
// does not), so one input with every other unit hidden must come out the same as when it is run.
std::vector<Tensor> states_of(const TwoStates::MakeRun& make, int64_t units) {
  const FedGraph both = make({std::vector<bool>(units, false), std::vector<bool>(units, true)});
  const std::vector<Value> values = values_of_single_units(*both.graph);
  if (values.empty()) return {};
  const std::vector<Tensor> states = run_up_to(both, values);
  std::vector<bool> alternating(units);
  for (int64_t unit = 0; unit < units; unit += 2) alternating[unit] = true;
  const FedGraph one = make({alternating});
  const std::vector<Value> of_one = values_of_single_units(*one.graph);
  if (of_one.size() != values.size()) return {};
  const std::vector<Tensor> expected = run_up_to(one, of_one);
  for (size_t i = 0; i < states.size(); ++i) {
    const Tensor picked = pick(states[i], states_hidden({alternating}));
    if (picked.shape() != expected[i].shape() || picked.to_doubles() != expected[i].to_doubles())
      return {};
  }
  return states;
}

}  // namespace

void TwoStates::feed(FedGraph& inputs, const HiddenUnits& hidden, const MakeRun& make) const {
  if (hidden.size() < kFewestInputs) return;
  if (!states_) states_ = states_of(make, static_cast<int64_t>(hidden[0].size()));
  if (states_->empty()) return;
  const std::vector<Value> values = values_of_single_units(*inputs.graph);
  if (values.size() != states_->size()) return;
  const PickedStates picked = states_hidden(hidden);
  for (size_t i = 0; i < values.size(); ++i) inputs.feeds[values[i]] = pick((*states_)[i], picked);
}

}  // namespace whyformer
