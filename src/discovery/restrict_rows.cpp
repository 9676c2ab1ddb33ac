#include "discovery/restrict_rows.h"

#include "graph/op_abilities.h"
#include "ops/ops.h"

#include <map>
#include <tuple>

namespace whyformer {
namespace {

class Rewriter {
 public:
  Rewriter(const Graph& graph, const std::vector<Value>& full)
      : graph_(graph), whole_(graph.value_count()), must_be_whole_(graph.value_count(), false) {
    for (const Value input : graph.inputs()) {
      const ValueType& type = graph.type(input);
      whole_[input.id] =
          builder_.input(graph.name(input), type.shape, type.dtype,
                         graph.varies(input) ? InputRole::kExplained : InputRole::kGiven);
    }
    for (const Value value : full) mark_whole(value);
    for (const Value value : full) whole(value);
  }

  Restricted finish(Value output) {
    whole(output);
    return {builder_.finish(), std::move(whole_)};
  }

 private:
  void mark_whole(Value value) {
    if (must_be_whole_[value.id]) return;
    must_be_whole_[value.id] = true;
    if (graph_.producer(value) < 0) return;
    for (const Value input : graph_.nodes()[graph_.producer(value)].inputs) mark_whole(input);
  }

  // The value in the new graph, with all its rows.
  Value whole(Value value) {
    if (whole_[value.id].valid()) return whole_[value.id];
    const Node& node = graph_.nodes()[graph_.producer(value)];
    if (const auto rows = sliced_rows(*node.op); rows && rows->length == 1) {
      return whole_[value.id] = row(node.inputs[0], *rows, node);
    }
    std::vector<Value> inputs;
    for (const Value input : node.inputs) inputs.push_back(whole(input));
    const std::vector<Value> made = builder_.add_all(node.op, std::move(inputs), node.name);
    for (size_t output = 0; output < made.size(); ++output) {
      whole_[node.outputs[output].id] = made[output];
    }
    return whole_[value.id];
  }

  // One row of the value: the operator on one row of its inputs where it treats rows by themselves,
  // otherwise a slice of the whole.
  Value row(Value value, const SlicedRows& rows, const Node& cut) {
    const auto key = std::tuple(value, rows.axis, rows.start);
    if (const auto known = rows_.find(key); known != rows_.end()) return known->second;
    Value result;
    const std::optional<AxisFlow> flow = flow_of(value, rows.axis);
    if (must_be_whole_[value.id] || !flow || !flow->independent) {
      result = slice(builder_, whole(value), rows.axis, rows.start, rows.length, cut.name);
    } else {
      const Node& node = graph_.nodes()[graph_.producer(value)];
      std::vector<Value> inputs;
      for (size_t input = 0; input < node.inputs.size(); ++input) {
        const int source = flow->sources[input];
        inputs.push_back(source < 0 ? whole(node.inputs[input])
                                    : row(node.inputs[input], {source, rows.start, 1}, cut));
      }
      const auto* storing = able_to<StoresShape>(*node.op);
      result = builder_.add(storing ? storing->resized(rows.axis, 1) : node.op, std::move(inputs),
                            node.name);
    }
    rows_[key] = result;
    return result;
  }

  std::optional<AxisFlow> flow_of(Value value, int axis) const {
    if (graph_.producer(value) < 0) return std::nullopt;
    const Node& node = graph_.nodes()[graph_.producer(value)];
    if (node.outputs[0] != value) return std::nullopt;  // axes are known of the first output only
    std::vector<ValueType> types;
    for (const Value input : node.inputs) types.push_back(graph_.type(input));
    return node.op->follow(axis, types);
  }

  const Graph& graph_;
  GraphBuilder builder_;
  std::vector<Value> whole_;
  std::vector<bool> must_be_whole_;
  std::map<std::tuple<Value, int, int64_t>, Value> rows_;
};

// The walk goes as deep as a graph is long, and no model is that long.
constexpr size_t kMostNodes = 20'000;

Restricted unchanged(const Graph& graph) {
  Restricted same{graph, {}};
  for (int id = 0; id < graph.value_count(); ++id) same.new_value.push_back(Value{id});
  return same;
}

// Rows that are rounded together need each other up to the last layer: nothing would be saved, and
// the layers would no longer be recognised.
bool has_linears_of_all_rows(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (!is_a<ops::Linear>(*node.op)) continue;
    const ValueType input = graph.type(node.inputs[0]);
    const auto flow = node.op->follow(0, {&input, 1});
    if (flow && !flow->independent) return true;
  }
  return false;
}

}  // namespace

Restricted restrict_rows(const Graph& graph, Value output, const std::vector<Value>& full) {
  if (graph.nodes().size() > kMostNodes) return unchanged(graph);
  std::vector<Value> whole = full;
  if (has_linears_of_all_rows(graph)) whole.push_back(output);
  return Rewriter(graph, whole).finish(output);
}

}  // namespace whyformer
