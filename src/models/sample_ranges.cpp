#include "models/sample_ranges.h"

#include <algorithm>

#include "discovery/axis_use.h"
#include "ops/ops.h"
#include "ops/quantised.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Where every value has the inputs of a batch.
class BatchPositions {
 public:
  BatchPositions(const Graph& graph, int64_t batch)
      : graph_(graph), depends_(graph.value_count(), false) {
    for (const Value input : graph.inputs()) {
      const Shape& shape = graph.shape(input);
      if (shape.empty() || shape[0] != batch) continue;
      uses_.emplace_back(graph, input, 0);
      depends_[input.id] = true;
    }
    for (const Node& node : graph.nodes()) {
      const bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](Value input) { return depends_[input.id]; });
      for (const Value output : node.outputs) depends_[output.id] = any;
    }
  }

  bool depends(Value value) const { return depends_[value.id]; }

  // Nothing where it is not known, or not one.
  std::optional<AxisUse::Positions> in(Value value) const {
    std::optional<AxisUse::Positions> found;
    for (const AxisUse& use : uses_) {
      for (const AxisUse::Positions& place : use.positions_in(value)) {
        if (found && !(*found == place)) return std::nullopt;
        found = place;
      }
    }
    return found;
  }

 private:
  const Graph& graph_;
  std::vector<AxisUse> uses_;
  std::vector<bool> depends_;
};

// Node by node. Scales and zeros that were one number are one for each index of the batch's axis
// from there on, up to where they meet what they scale.
class RangesBySample {
 public:
  RangesBySample(const Graph& graph, int64_t batch)
      : graph_(graph),
        samples_(graph, batch),
        renamed_(graph.value_count()),
        spread_(graph.value_count()) {
    for (const Value input : graph.inputs()) {
      const ValueType& type = graph.type(input);
      renamed_[input.id] =
          builder_.input(graph.name(input), type.shape, type.dtype,
                         graph.varies(input) ? InputRole::kExplained : InputRole::kGiven);
    }
  }

  std::optional<onnx::Rewritten> rewritten() {
    for (const Node& node : graph_.nodes()) {
      if (!(rounds_dynamically(*node.op) ? add_rounding(node) : add(node))) return std::nullopt;
    }
    return onnx::Rewritten{builder_.finish(), std::move(renamed_)};
  }

 private:
  // Of a value that has other axes than before: the batch's, counted from the last, and how many
  // share an input's place.
  struct Spread {
    int from_end = 0;
    int64_t inner = 1;
    bool operator==(const Spread&) const = default;
  };

  Spread spread_of(const AxisUse::Positions& place, Value value) const {
    return {static_cast<int>(graph_.shape(value).size()) - place.axis, place.inner};
  }

  bool add_rounding(const Node& node) {
    const Value x = node.inputs[0];
    if (!samples_.depends(x)) return add(node);
    const std::optional<AxisUse::Positions> place = samples_.in(x);
    const bool is_linear = !is_a<ops::DynamicScale>(*node.op);
    if (!place || spread_[x.id] ||
        (is_linear && place->axis + 1 == static_cast<int>(graph_.shape(x).size())))
      return false;
    const SampleAxis axis{place->axis, place->inner, place->length};
    put(node, is_linear ? rounding_by_sample(*node.op, axis) : scales_by_sample(*node.op, axis),
        {renamed_[x.id]});
    for (const Value output : node.outputs) {
      if (!is_linear) spread_[output.id] = spread_of(*place, x);
    }
    return true;
  }

  bool add(const Node& node) {
    const std::optional<Spread>* spread = nullptr;
    std::vector<Value> inputs;
    for (const Value input : node.inputs) {
      inputs.push_back(renamed_[input.id]);
      if (!spread_[input.id]) continue;
      if (spread != nullptr && !(*spread == spread_[input.id])) return false;
      spread = &spread_[input.id];
    }
    if (spread == nullptr) {
      put(node, node.op, std::move(inputs));
      return true;
    }
    return is_a<ops::Reshape>(*node.op) ? pass_view(node, **spread)
                                        : add_scaled(node, std::move(inputs), **spread);
  }

  // Views of single numbers, or of one for each column, that only add or drop axes in front.
  bool pass_view(const Node& node, const Spread& spread) {
    const auto columns = [](const Shape& shape) {
      const auto first =
          std::find_if(shape.begin(), shape.end(), [](int64_t length) { return length != 1; });
      return Shape(first, shape.end());
    };
    if (columns(graph_.shape(node.inputs[0])) != columns(graph_.shape(node.outputs[0])))
      return false;
    renamed_[node.outputs[0].id] = renamed_[node.inputs[0].id];
    spread_[node.outputs[0].id] = spread;
    return true;
  }

  // Arithmetic of scales keeps them apart; with the numbers they scale they meet where those have
  // their inputs.
  bool add_scaled(const Node& node, std::vector<Value> inputs, const Spread& spread) {
    try {
      put(node, node.op, std::move(inputs));
    } catch (const InvalidInput&) {
      return false;
    }
    const Value output = node.outputs[0];
    if (node.outputs.size() != 1) return false;
    if (!graph_.varies(output)) {
      spread_[output.id] = spread;
      return true;
    }
    const std::optional<AxisUse::Positions> place = samples_.in(output);
    return place && spread_of(*place, output) == spread &&
           builder_.shape(renamed_[output.id]) == graph_.shape(output);
  }

  void put(const Node& node, std::shared_ptr<const Op> op, std::vector<Value> inputs) {
    const std::vector<Value> outputs =
        builder_.add_all(std::move(op), std::move(inputs), node.name);
    for (size_t i = 0; i < outputs.size(); ++i) renamed_[node.outputs[i].id] = outputs[i];
  }

  const Graph& graph_;
  const BatchPositions samples_;
  GraphBuilder builder_;
  std::vector<Value> renamed_;
  std::vector<std::optional<Spread>> spread_;
};

}  // namespace

bool rounds_dynamically(const Op& op) {
  return is_a<ops::DynamicScale>(op) || quantised_linear_parts(op).has_value();
}

bool has_dynamic_ranges(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const Node& node) { return rounds_dynamically(*node.op); });
}

std::optional<onnx::Rewritten> with_ranges_by_sample(const Graph& graph, int64_t batch) {
  return RangesBySample(graph, batch).rewritten();
}

}  // namespace whyformer
