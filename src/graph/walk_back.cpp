#include "graph/walk_back.h"

#include <fmt/format.h>

#include "base/parallel.h"
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
    if (more.is_contiguous() && more.is_sole_owner()) std::swap(sum, more);
    else sum = sum.copy();
  }
  if (sum.dtype() == DType::kFloat32) add_into<float>(sum, more);
  else add_into<double>(sum, more);
}

// Everything a node's rule may look at.
struct CallTensors {
  std::vector<ValueType> input_types;
  Tensors inputs;
  Tensors outputs;

  CallTensors(const Graph& graph, const Pass& pass, const Node& node) {
    for (const Value input : node.inputs) {
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

std::map<Value, Tensor> walk_back(const Graph& graph, const Pass& pass, Value from,
                                  const Tensor& seed, const LocalRule& rule,
                                  const std::vector<Value>& wanted) {
  const std::vector<bool> on_the_way = values_on_the_way(graph, wanted);
  std::vector<bool> is_wanted(graph.value_count(), false);
  for (const Value value : wanted) is_wanted[value.id] = true;
  std::vector<Tensor> arrived(graph.value_count());
  arrived[from.id] = seed;
  for (size_t index = graph.nodes().size(); index-- > 0;) {
    const Node& node = graph.nodes()[index];
    Tensors from_outputs;
    bool reached = false;
    for (const Value output : node.outputs) {
      from_outputs.push_back(arrived[output.id]);
      if (!is_wanted[output.id]) arrived[output.id] = {};
      reached = reached || (from_outputs.back().defined() && on_the_way[output.id]);
    }
    Wanted wanted_inputs;
    bool any = false;
    for (const Value input : node.inputs) {
      wanted_inputs.push_back(on_the_way[input.id]);
      any = any || on_the_way[input.id];
    }
    if (!reached || !any) continue;
    const CallTensors tensors(graph, pass, node);
    Tensors results = rule.back(node, tensors.call(pass.kept[index]), from_outputs, wanted_inputs);
    from_outputs.clear();
    for (size_t input = 0; input < node.inputs.size(); ++input) {
      if (!wanted_inputs[input] || !results[input].defined()) continue;
      accumulate(arrived[node.inputs[input].id], std::move(results[input]));
    }
  }
  std::map<Value, Tensor> found;
  for (const Value value : wanted) {
    Tensor& tensor = arrived[value.id];
    const ValueType& type = graph.type(value);
    found[value] = tensor.defined() ? tensor : Tensor::zeros(type.shape, type.dtype);
  }
  return found;
}

}  // namespace whyformer
