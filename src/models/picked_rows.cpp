#include "models/picked_rows.h"

#include "ops/ops.h"

#include <algorithm>

namespace whyformer {
namespace {

struct FoundIds {
  bool found = false;
  std::optional<SlicedRows> positions;
};

// Whether the indices are the ids or some of them, perhaps with constants added as tables do that
// hold several columns' rows.
FoundIds ids_behind(const Graph& graph, Value value, Value ids) {
  FoundIds result;
  while (value != ids) {
    const int producer = graph.producer(value);
    if (producer < 0) return {};
    const Node& node = graph.nodes()[producer];
    const auto rows = sliced_rows(*node.op);
    const bool offset = is_a<ops::Add>(*node.op) && !graph.varies(node.inputs[1]);
    if (rows) {
      // Only of the ids as they lie in the input is it known which positions these are.
      if (result.positions || rows->axis == 0 || graph.shape(node.inputs[0]) != graph.shape(ids))
        return {};
      result.positions = rows;
    } else if (!is_a<ops::Reshape, ops::Cast>(*node.op) && !offset) {
      return {};
    }
    value = node.inputs[0];
  }
  result.found = true;
  return result;
}

// The rows as numbers: tables of whole numbers become floats behind the look-up. Invalid where they
// stay whole.
Value floats_of(const Graph& graph, Value rows) {
  const std::vector<int>& users = graph.users(rows);
  const bool quantised =
      users.size() == 1 && is_a<ops::DequantizeLinear>(*graph.nodes()[users[0]].op);
  const Value floats = quantised ? graph.nodes()[users[0]].outputs[0] : rows;
  return graph.type(floats).dtype == DType::kInt64 ? Value{} : floats;
}

bool overlap(const SlicedRows& a, const SlicedRows& b) {
  return a.axis != b.axis || (a.start < b.start + b.length && b.start < a.start + a.length);
}

}  // namespace

std::vector<PickedRows> rows_picked_by(const Graph& graph, Value ids) {
  std::vector<PickedRows> some;
  for (const Node& node : graph.nodes()) {
    if (!is_a<ops::Embedding, ops::Gather>(*node.op)) continue;
    const FoundIds indices = ids_behind(graph, node.inputs.back(), ids);
    if (!indices.found) continue;
    const Value rows = floats_of(graph, node.outputs[0]);
    if (!indices.positions)
      return rows.valid() ? std::vector<PickedRows>{{rows, {}}} : std::vector<PickedRows>{};
    const bool known = std::any_of(some.begin(), some.end(), [&](const PickedRows& one) {
      return overlap(*one.positions, *indices.positions);
    });
    if (rows.valid() && !known) some.push_back({rows, indices.positions});
  }
  return some;
}

}  // namespace whyformer
