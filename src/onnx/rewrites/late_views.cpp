// Files that have tokens in front of the batch, all through (nn.Transformer) or inside of each
// attention (nn.MultiheadAttention), exchange the two axes there and back; files of one input alone
// have no batch. Everything else wants [batch, tokens, …]: here the rows stay as they are as long
// as they can, and the other view of them is put off. What works on each row by itself does not see
// it, and where two exchanges meet, both are gone.
#include <algorithm>

#include "onnx/rewrites/rewrite.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

// How the old graph sees a value of the new one.
enum class View {
  kSame,
  kExchanged,    // its first two axes, the others where they are
  kWithoutBatch  // its first axis, of length 1, left out
};

// The axis of the new graph's value.
int axis_behind(View view, int axis) {
  if (view == View::kWithoutBatch) return axis + 1;
  return view == View::kExchanged && axis < 2 ? 1 - axis : axis;
}

// The new graph's shape of what the old one sees as `shape`.
Shape shape_behind(View view, Shape shape) {
  if (view == View::kWithoutBatch) shape.insert(shape.begin(), 1);
  if (view == View::kExchanged) std::swap(shape[0], shape[1]);
  return shape;
}

std::vector<int> exchange(size_t rank) {
  std::vector<int> order;
  for (size_t axis = 0; axis < rank; ++axis)
    order.push_back(axis_behind(View::kExchanged, static_cast<int>(axis)));
  return order;
}

// Element by element, with broadcasting.
bool is_elementwise(const Op& op) {
  return is_a<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::Pow, ops::Max, ops::Min, ops::Where,
              ops::Activation, ops::Cast, ops::Neg, ops::Abs, ops::Sqrt, ops::Reciprocal, ops::Exp,
              ops::Log, ops::Erf, ops::Softplus, ops::LeakyRelu, ops::Elu, ops::HardSigmoid,
              ops::HardSwish, ops::QuickGelu, ops::QuantizeLinear, ops::DequantizeLinear>(op);
}

// Each row along the last axis by itself.
bool works_on_rows(const Op& op) {
  return is_a<ops::Linear, ops::LayerNorm, ops::RmsNorm, ops::L2Normalise>(op);
}

// The graph once more, from its inputs on, with other views put off.
class LateViews {
 public:
  LateViews(const Graph& graph, const std::vector<Value>& wanted)
      : graph_(graph), builder_(Folding::kYes), states_(graph.value_count()) {
    for (const Value input : graph.inputs()) {
      const ValueType& type = graph.type(input);
      const InputRole role = graph.varies(input) ? InputRole::kExplained : InputRole::kGiven;
      state(input).x = builder_.input(graph.name(input), type.shape, type.dtype, role);
    }
    for (const Node& node : graph.nodes()) rebuild(node);
    for (const Value value : wanted) as_it_was(value);
    for (const State& one : states_)
      result_.new_value.push_back(one.view == View::kSame ? one.x : one.as_it_was);
    result_.graph = builder_.finish();
  }

  Rewritten take() { return std::move(result_); }

 private:
  // A value of the old graph is a view of `x`.
  struct State {
    Value x;
    View view = View::kSame;
    Value as_it_was = {};  // once somebody needs it
  };

  void rebuild(const Node& node) {
    if (node.outputs.size() == 1) {
      if (const std::optional<State> late = put_off(node)) {
        state(node.outputs[0]) = *late;
        return;
      }
    }
    // The span of all numbers is the same wherever they are.
    const bool any_order = is_a<ops::DynamicScale>(*node.op);
    std::vector<Value> inputs;
    for (const Value input : node.inputs)
      inputs.push_back(any_order ? state(input).x : as_it_was(input));
    const std::vector<Value> outputs = builder_.add_all(node.op, std::move(inputs), node.name);
    for (size_t i = 0; i < outputs.size(); ++i) state(node.outputs[i]).x = outputs[i];
  }

  std::optional<State> put_off(const Node& node) {
    const Op& op = *node.op;
    if (!axis_order(op).empty()) return transposition(node);
    if (is_a<ops::Reshape>(op)) return reshaped(node);
    const auto viewed = std::find_if(node.inputs.begin(), node.inputs.end(),
                                     [&](Value input) { return state(input).view != View::kSame; });
    if (viewed == node.inputs.end()) return std::nullopt;
    const View view = state(*viewed).view;
    if (is_elementwise(op) || works_on_rows(op)) return row_by_row(node, view);
    if (is_a<ops::Slice>(op)) return sliced(node, view);
    if (is_a<ops::Mean>(op)) return averaged(node, view);
    if (!reduced_axes(op).empty()) return reduced(node, view);
    if (is_a<ops::Concat>(op)) return joined(node, view);
    if (is_a<ops::Embedding, ops::Gather>(op)) return looked_up(node, view);
    return std::nullopt;
  }

  // Exchanges begin and end here. Heads that are merged may come with one: [batch, heads, tokens,
  // width] as [tokens, batch, heads, width].
  std::optional<State> transposition(const Node& node) {
    const State& before = state(node.inputs[0]);
    if (before.view == View::kWithoutBatch) return std::nullopt;
    std::vector<int> order = axis_order(*node.op);
    for (int& axis : order) axis = axis_behind(before.view, axis);
    const bool ids = graph_.type(node.inputs[0]).dtype == DType::kInt64;
    const bool rows = order.size() >= 3 && order.back() == static_cast<int>(order.size()) - 1;
    const bool exchanges = order.size() >= 2 && order[0] > order[1] && (rows || ids);
    if (exchanges) std::swap(order[0], order[1]);
    const bool in_place = std::is_sorted(order.begin(), order.end());
    if (exchanges && !in_place && order != std::vector<int>{0, 2, 1, 3}) return std::nullopt;
    return State{in_place ? before.x : transpose(builder_, before.x, order, node.name),
                 exchanges ? View::kExchanged : View::kSame};
  }

  // A batch that is left out begins at an input. Else: views of what is behind the first axes, one
  // view instead of the other where there is but one input, and whatever does not see the order of
  // the first axes.
  std::optional<State> reshaped(const Node& node) {
    const State& before = state(node.inputs[0]);
    const Shape &from = graph_.shape(node.inputs[0]), &to = graph_.shape(node.outputs[0]);
    const auto seen_as = [&](View view) {
      return State{reshape(builder_, before.x, shape_behind(view, to), node.name), view};
    };
    if (before.view == View::kSame) {
      const bool leaves_out =
          graph_.producer(node.inputs[0]) < 0 && from == shape_behind(View::kWithoutBatch, to);
      return leaves_out ? std::optional(State{before.x, View::kWithoutBatch}) : std::nullopt;
    }
    const bool same_tokens = !to.empty() && !from.empty() && to[0] == from[0];
    if (before.view == View::kExchanged) {
      if (same_tokens && to.size() >= 3 && to[1] == from[1]) return seen_as(View::kExchanged);
      if (same_tokens && to.size() >= 2 && from[1] == 1 && from[0] > 1)
        return seen_as(View::kWithoutBatch);
      return from[0] == 1 || from[1] == 1 ? std::optional(seen_as(View::kSame)) : std::nullopt;
    }
    if (same_tokens && to.size() >= 3 && to[1] == 1) return seen_as(View::kExchanged);
    return same_tokens && to.size() >= 2 ? seen_as(View::kWithoutBatch) : seen_as(View::kSame);
  }

  std::optional<State> row_by_row(const Node& node, View view) {
    const size_t rank = graph_.shape(node.outputs[0]).size();
    const size_t least = view == View::kWithoutBatch ? 1 : 2;
    if (rank < least + (works_on_rows(*node.op) ? 1 : 0)) return std::nullopt;
    std::vector<Value> inputs;
    for (const Value input : node.inputs) {
      const std::optional<Value> x = seen_through(view, input, rank, node.name);
      if (!x) return std::nullopt;
      inputs.push_back(*x);
    }
    return State{builder_.add(node.op, inputs, node.name), view};
  }

  // What the old graph sees, of that rank, through the view; nothing where that would be one view
  // more.
  std::optional<Value> seen_through(View view, Value value, size_t rank, const std::string& name) {
    const State& own = state(value);
    Shape shape = graph_.shape(value);
    if (own.view == view) return shape.size() == rank ? std::optional(own.x) : std::nullopt;
    if (own.view != View::kSame) return std::nullopt;
    // Shorter shapes are repeated along the axes in front, however many there are.
    if (view == View::kWithoutBatch) {
      if (shape.size() < rank) return own.x;
      if (graph_.varies(value)) return std::nullopt;
      return reshape(builder_, own.x, shape_behind(view, shape), name);
    }
    shape.insert(shape.begin(), rank - shape.size(), 1);
    if (shape[0] == 1 && shape[1] == 1) return own.x;
    if (graph_.varies(value)) return std::nullopt;
    const Value whole =
        shape == graph_.shape(value) ? own.x : reshape(builder_, own.x, shape, name);
    return transpose(builder_, whole, exchange(rank), name);
  }

  std::optional<State> sliced(const Node& node, View view) {
    const SlicedRows rows = *sliced_rows(*node.op);
    return State{slice(builder_, state(node.inputs[0]).x, axis_behind(view, rows.axis), rows.start,
                       rows.length, node.name),
                 view};
  }

  std::optional<State> averaged(const Node& node, View view) {
    const int axis = lost_axis(node);
    const Value x = mean(builder_, state(node.inputs[0]).x, axis_behind(view, axis), node.name);
    return State{x, without_axes(view, {axis})};
  }

  std::optional<State> reduced(const Node& node, View view) {
    const ops::Reduce& own = *as_reduction(*node.op);
    std::vector<int> axes;
    for (const int axis : own.axes()) axes.push_back(axis_behind(view, axis));
    const Value x = reduce(builder_, state(node.inputs[0]).x, own.function(), axes,
                           own.keeps_axes(), node.name);
    return State{x, own.keeps_axes() ? view : without_axes(view, own.axes())};
  }

  // Of two axes that were exchanged, one that is left alone is where it was.
  static View without_axes(View view, const std::vector<int>& axes) {
    const bool one_is_lost =
        std::any_of(axes.begin(), axes.end(), [](int axis) { return axis < 2; });
    return view == View::kExchanged && one_is_lost ? View::kSame : view;
  }

  // Of an operator that gives up one axis.
  int lost_axis(const Node& node) const {
    const std::vector<ValueType> types{graph_.type(node.inputs[0])};
    int axis = 0;
    while (axis < static_cast<int>(types[0].shape.size()) - 1 &&
           node.op->follow(axis, types)->sources[0] == axis)
      ++axis;
    return axis;
  }

  std::optional<State> joined(const Node& node, View view) {
    std::vector<ValueType> types;
    std::vector<Value> parts;
    for (const Value input : node.inputs) {
      types.push_back(graph_.type(input));
      const std::optional<Value> part =
          seen_through(view, input, graph_.shape(input).size(), node.name);
      if (!part) return std::nullopt;
      parts.push_back(*part);
    }
    int axis = 0;
    while (node.op->follow(axis, types)) ++axis;
    return State{concat(builder_, parts, axis_behind(view, axis), node.name), view};
  }

  // Rows of a table that ids [tokens, batch] or [tokens] pick.
  std::optional<State> looked_up(const Node& node, View view) {
    const Value ids = node.inputs.back();
    const bool table_is_seen_so =
        node.inputs.size() > 1 && state(node.inputs[0]).view != View::kSame;
    if (table_is_seen_so || state(ids).view != view) return std::nullopt;
    std::vector<Value> inputs;
    std::vector<ValueType> types;
    for (const Value input : node.inputs) {
      inputs.push_back(state(input).x);
      types.push_back(graph_.type(input));
    }
    const size_t rank = view == View::kExchanged ? 2 : 1;
    if (graph_.shape(ids).size() != rank || graph_.shape(node.outputs[0]).size() != rank + 1)
      return std::nullopt;
    const auto flow = node.op->follow(0, types);
    if (!flow || flow->sources.back() != 0) return std::nullopt;
    return State{builder_.add(node.op, inputs, node.name), view};
  }

  Value as_it_was(Value value) {
    State& own = state(value);
    if (own.view == View::kSame) return own.x;
    if (!own.as_it_was.valid()) {
      const Shape& shape = graph_.shape(value);
      own.as_it_was = own.view == View::kExchanged
                          ? transpose(builder_, own.x, exchange(shape.size()), graph_.name(value))
                          : reshape(builder_, own.x, shape, graph_.name(value));
    }
    return own.as_it_was;
  }

  State& state(Value value) { return states_[value.id]; }

  const Graph& graph_;
  GraphBuilder builder_;
  std::vector<State> states_;  // by value of the old graph
  Rewritten result_;
};

}  // namespace

Rewritten with_late_views(const Graph& graph, const std::vector<Value>& wanted) {
  return LateViews(graph, wanted).take();
}

}  // namespace whyformer::onnx
