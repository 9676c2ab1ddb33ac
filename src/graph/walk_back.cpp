#include "graph/walk_back.h"

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/pulse.h"
#include "kernels/elementwise.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

class GradientRule final : public LocalRule {
 public:
  Tensors back(const Node& node, const Call& call, TensorSpan from_outputs,
               const Wanted& wanted) const override {
    return node.op->gradient(call, from_outputs, wanted);
  }
  bool takes_pairs() const override { return true; }
};

// Values that depend on a wanted one: only those carry something on the way back.
std::vector<bool> values_on_the_way(const Graph& graph, const std::vector<Value>& wanted) {
  std::vector<bool> on_the_way(graph.value_count(), false);
  for (const Value value : wanted) on_the_way[value.id] = true;
  for (const Node& node : graph.nodes()) {
    bool reached = false;
    for (const Value input : node.inputs) reached = reached || on_the_way[input.id];
    if (!reached) continue;
    for (const Value output : node.outputs) on_the_way[output.id] = true;
  }
  return on_the_way;
}

template <typename T>
void add_into(Tensor& sum, const Tensor& more) {
  const Tensor addend = more.contiguous();
  T* out = sum.mutable_data<T>();
  parallel_for(sum.size(), 16384, [&](int64_t begin, int64_t end) {
    add(out + begin, addend.data<T>() + begin, out + begin, end - begin);
  });
}

void accumulate(Tensor& sum, Tensor more) {
  if (!sum.defined()) {
    sum = std::move(more);
    return;
  }
  if (!sum.is_contiguous() || !sum.is_sole_owner()) {
    if (more.is_contiguous() && more.is_sole_owner())
      std::swap(sum, more);
    else
      sum = sum.copy();
  }
  if (sum.dtype() == DType::kFloat32)
    add_into<float>(sum, more);
  else
    add_into<double>(sum, more);
}

// Everything a node's rule may look at.
struct CallTensors {
  std::vector<ValueType> input_types;
  Tensors inputs;
  Tensors outputs;

  CallTensors(const Graph& graph, const Pass& pass, const std::vector<Value>& inputs_of,
              const Node& node) {
    for (const Value input : inputs_of) {
      input_types.push_back(graph.type(input));
      inputs.push_back(pass[input]);
    }
    for (const Value output : node.outputs) outputs.push_back(pass[output]);
  }
  Call call(TensorSpan kept) const { return {input_types, inputs, outputs, kept}; }
};

}  // namespace

const LocalRule& gradient_rule() {
  static const GradientRule rule;
  return rule;
}

BackwardWalk::BackwardWalk(const Graph& graph, const Pass& pass, Value from, Tensor seed,
                           const LocalRule& rule, const std::vector<Value>& wanted)
    : graph_(graph),
      pass_(pass),
      rule_(rule),
      on_the_way_(values_on_the_way(graph, wanted)),
      is_wanted_(graph.value_count(), false),
      arrived_(graph.value_count()),
      next_(graph.nodes().size()) {
  for (const Value value : wanted) is_wanted_[value.id] = true;
  arrived_[from.id] = std::move(seed);
}

Tensor BackwardWalk::at(Value value) {
  // Everything that reads the value comes after what makes it.
  const auto maker = static_cast<size_t>(graph_.producer(value) + 1);
  while (next_ > maker) {
    pulse();  // before anything changes: an interrupted walk can go on
    --next_;
    pass_node(graph_.nodes()[next_], next_);
  }
  const ValueType& type = graph_.type(value);
  const Tensor& found = arrived_[value.id];
  return found.defined() ? found : Tensor::zeros(type.shape, type.dtype);
}

void BackwardWalk::pass_node(const Node& node, size_t index) {
  Tensors from_outputs;
  bool reached = false, asked_here = false;
  for (const Value output : node.outputs) {
    from_outputs.push_back(arrived_[output.id]);
    if (!is_wanted_[output.id]) arrived_[output.id] = {};
    asked_here = asked_here || is_wanted_[output.id];
    const bool given = !pass_.given.empty() && pass_.given[output.id];
    reached = reached || (from_outputs.back().defined() && on_the_way_[output.id] && !given);
  }
  const NodePair* pair = pair_to_take(node, index);
  const std::vector<Value>& inputs = pair != nullptr ? pair->inputs : node.inputs;
  Wanted wanted_inputs;
  bool any = false;
  for (const Value input : inputs) {
    // Whoever asks for the rows that ids pick knows that nothing passes to the ids.
    const bool ids =
        asked_here && !is_wanted_[input.id] && graph_.type(input).dtype == DType::kInt64;
    wanted_inputs.push_back(on_the_way_[input.id] && !ids);
    any = any || wanted_inputs.back();
  }
  if (!reached || !any) return;
  const CallTensors tensors(graph_, pass_, inputs, node);
  const Call call = tensors.call(pass_.kept[index]);
  Tensors results = pair != nullptr ? pair->op->gradient(call, from_outputs, wanted_inputs)
                                    : rule_.back(node, call, from_outputs, wanted_inputs);
  from_outputs.clear();
  for (size_t input = 0; input < inputs.size(); ++input) {
    if (!wanted_inputs[input] || !results[input].defined()) continue;
    accumulate(arrived_[inputs[input].id], std::move(results[input]));
  }
}

// The pair that a node ends, if its first node may be stepped over.
const NodePair* BackwardWalk::pair_to_take(const Node& node, size_t index) const {
  const NodePair* pair = graph_.pair_ending_at(index);
  if (pair == nullptr || !rule_.takes_pairs() || !pair->op->has_gradient()) return nullptr;
  return is_wanted_[node.inputs[0].id] ? nullptr : pair;
}

std::map<Value, Tensor> walk_back(const Graph& graph, const Pass& pass, Value from,
                                  const Tensor& seed, const LocalRule& rule,
                                  const std::vector<Value>& wanted) {
  BackwardWalk walk(graph, pass, from, seed, rule, wanted);
  std::map<Value, Tensor> found;
  for (const Value value : wanted) found[value] = walk.at(value);
  return found;
}

}  // namespace whyformer
