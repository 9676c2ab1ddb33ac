#include "discovery/site_tokens.h"

#include "ops/ops.h"

#include <algorithm>
#include <set>

namespace whyformer {
namespace {

constexpr size_t kMostNodesBetween = 200;  // from the queries back to where their rows were cut out
constexpr int kMostJoints = 4;             // of learned keys, one behind the other

// Goes back from queries along everything that keeps to their rows.
class CutRows {
 public:
  CutRows(const Graph& graph, const AxisClasses& classes, Value attention)
      : graph_(graph),
        classes_(classes),
        queries_(graph.shape(attention)[2]),
        query_class_(classes.of(attention, 2)),
        key_class_(classes.of(attention, 3)) {}

  std::optional<int64_t> first_behind(Value value) {
    const int producer = graph_.producer(value);
    if (producer < 0 || seen_.size() > kMostNodesBetween || !seen_.insert(producer).second)
      return std::nullopt;
    const Node& node = graph_.nodes()[producer];
    if (const auto rows = sliced_rows(*node.op); rows && cuts_keys(node, *rows)) return rows->start;
    // A product of two things that vary is another attention, and what has all tokens may mix them.
    if (is_a<ops::MatMul>(*node.op) || classes_.has(graph_, value, key_class_)) return std::nullopt;
    for (const Value input : node.inputs) {
      if (!graph_.varies(input) || graph_.type(input).dtype == DType::kInt64) continue;
      if (const auto first = first_behind(input)) return first;
    }
    return std::nullopt;
  }

 private:
  // One row stays one row, whatever views do to its axis; several must be the queries' own axis.
  bool cuts_keys(const Node& node, const SlicedRows& rows) const {
    return rows.length == queries_ && classes_.of(node.inputs[0], rows.axis) == key_class_ &&
           (queries_ == 1 || classes_.of(node.outputs[0], rows.axis) == query_class_);
  }

  const Graph& graph_;
  const AxisClasses& classes_;
  int64_t queries_;
  int query_class_, key_class_;
  std::set<int> seen_;
};

// Where the one part of the joined axis that varies begins, and its class.
struct Joint {
  int axis_class = -1;
  int64_t first = 0;
};

std::optional<Joint> varying_part(const Graph& graph, const AxisClasses& classes,
                                  int joined_class) {
  for (const Node& node : graph.nodes()) {
    if (!is_a<ops::Concat>(*node.op)) continue;
    const Shape& shape = graph.shape(node.outputs[0]);
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      if (classes.of(node.outputs[0], axis) != joined_class) continue;
      std::optional<Joint> found;
      int64_t at = 0;
      for (const Value input : node.inputs) {
        const int64_t length = graph.shape(input)[axis];
        if (graph.varies(input) && (found || length == shape[axis])) return std::nullopt;
        if (graph.varies(input)) found = Joint{classes.of(input, axis), at};
        at += length;
      }
      if (found) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::pair<Value, Value> score_operands(const Graph& graph, Value attention) {
  Value value = graph.nodes()[graph.producer(attention)].inputs[0];
  while (graph.producer(value) >= 0) {
    const Node& node = graph.nodes()[graph.producer(value)];
    if (is_a<ops::MatMul>(*node.op)) return {node.inputs[0], node.inputs[1]};
    if (node.inputs.empty()) break;
    // Sums of products (content, positions): any of them tells.
    const auto varying = std::find_if(node.inputs.begin(), node.inputs.end(),
                                      [&](Value input) { return graph.varies(input); });
    value = varying == node.inputs.end() ? node.inputs[0] : *varying;
  }
  return {attention, attention};
}

std::optional<int64_t> first_query_among_keys(const Graph& graph, const AxisClasses& classes,
                                              Value attention) {
  const Shape& shape = graph.shape(attention);
  if (shape[2] >= shape[3] || classes.of(attention, 2) == classes.of(attention, 3))
    return std::nullopt;
  return CutRows(graph, classes, attention).first_behind(score_operands(graph, attention).first);
}

std::optional<int64_t> first_token_among_keys(const Graph& graph, const AxisClasses& classes,
                                              Value attention) {
  const Shape& shape = graph.shape(attention);
  const int tokens = classes.of(attention, 2);
  if (shape[2] >= shape[3]) return std::nullopt;
  Joint joint{classes.of(attention, 3), 0};
  for (int step = 0; step < kMostJoints && joint.axis_class != tokens; ++step) {
    const auto part = varying_part(graph, classes, joint.axis_class);
    if (!part) return std::nullopt;
    joint = {part->axis_class, joint.first + part->first};
  }
  if (joint.axis_class != tokens) return std::nullopt;
  return joint.first;
}

}  // namespace whyformer
