// Nodes that do nothing, and views of views.
#include <algorithm>

#include "onnx/rewrites/rewrite.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

Replacement same_as(Value value) {
  return {{value}, [](GraphBuilder&, std::span<const Value> inputs, const std::string&) {
            return inputs[0];
          }};
}

bool all_equal(const Tensor& tensor, double wanted) {
  const std::vector<double> numbers = tensor.to_doubles();
  return std::all_of(numbers.begin(), numbers.end(), [&](double x) { return x == wanted; });
}

// x + 0, x - 0, x · 1, x / 1, with a constant of any shape.
std::optional<Replacement> neutral_operand(const Pattern& pattern, const Node& node) {
  const bool sum = is_a<ops::Add, ops::Sub>(*node.op);
  if (!sum && !is_a<ops::Mul, ops::Div>(*node.op)) return std::nullopt;
  const bool commutes = is_a<ops::Add, ops::Mul>(*node.op);
  for (const int place : {1, 0}) {
    if (place == 0 && !commutes) continue;
    const Tensor* constant = pattern.constant(node.inputs[place]);
    const Value x = node.inputs[1 - place];
    if (constant == nullptr || pattern.shape(x) != pattern.shape(node.outputs[0])) continue;
    if (all_equal(*constant, sum ? 0 : 1)) return same_as(x);
  }
  return std::nullopt;
}

std::optional<Replacement> reshape_of_reshape(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Reshape>(*node.op)) return std::nullopt;
  const Shape shape = pattern.shape(node.outputs[0]);
  if (pattern.shape(node.inputs[0]) == shape) return same_as(node.inputs[0]);
  const Node* before = pattern.made_by<ops::Reshape>(node.inputs[0]);
  if (before == nullptr) return std::nullopt;
  if (pattern.shape(before->inputs[0]) == shape) return same_as(before->inputs[0]);
  return Replacement{
      {before->inputs[0]},
      [shape](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
        return reshape(graph, inputs[0], shape, name);
      }};
}

std::optional<Replacement> transpose_of_transpose(const Pattern& pattern, const Node& node) {
  const std::vector<int> outer = axis_order(*node.op);
  if (outer.empty()) return std::nullopt;
  const Node* before = pattern.maker(node.inputs[0]);
  if (before == nullptr) return std::nullopt;
  const std::vector<int> inner = axis_order(*before->op);
  if (inner.empty()) return std::nullopt;
  std::vector<int> order;
  for (const int axis : outer) order.push_back(inner[axis]);
  if (std::is_sorted(order.begin(), order.end())) return same_as(before->inputs[0]);
  return Replacement{
      {before->inputs[0]},
      [order](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
        return transpose(graph, inputs[0], order, name);
      }};
}

// The axes of `to` that each axis of `from` is split into; nothing where axes are merged.
std::optional<std::vector<Shape>> splits(const Shape& from, const Shape& to) {
  std::vector<Shape> result;
  size_t at = 0;
  for (const int64_t length : from) {
    Shape parts;
    int64_t product = 1;
    while (at < to.size() && (parts.empty() || product < length)) {
      parts.push_back(to[at]);
      product *= to[at++];
    }
    if (parts.empty() || product != length) return std::nullopt;
    result.push_back(std::move(parts));
  }
  return at == to.size() ? std::optional(result) : std::nullopt;
}

// Reshape → Transpose → Reshape where the last only splits axes: split at once, transpose then.
// Heads that were kept in the batch axis get their own.
std::optional<Replacement> split_behind_transpose(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Reshape>(*node.op)) return std::nullopt;
  const Node* moved = pattern.maker(node.inputs[0]);
  if (moved == nullptr || axis_order(*moved->op).empty()) return std::nullopt;
  if (pattern.made_by<ops::Reshape>(moved->inputs[0]) == nullptr) return std::nullopt;
  const std::vector<int> order = axis_order(*moved->op);
  const auto parts = splits(pattern.shape(node.inputs[0]), pattern.shape(node.outputs[0]));
  if (!parts) return std::nullopt;
  Shape shape;
  std::vector<int> first(order.size());
  for (size_t source = 0; source < order.size(); ++source) {
    const size_t place =
        std::find(order.begin(), order.end(), static_cast<int>(source)) - order.begin();
    first[source] = static_cast<int>(shape.size());
    shape.insert(shape.end(), (*parts)[place].begin(), (*parts)[place].end());
  }
  std::vector<int> new_order;
  for (size_t place = 0; place < order.size(); ++place) {
    for (size_t i = 0; i < (*parts)[place].size(); ++i) {
      new_order.push_back(first[order[place]] + static_cast<int>(i));
    }
  }
  return Replacement{{moved->inputs[0]},
                     [shape, new_order](GraphBuilder& graph, std::span<const Value> inputs,
                                        const std::string& name) {
                       return transpose(graph, reshape(graph, inputs[0], shape, name), new_order,
                                        name);
                     }};
}

// Reshape → Transpose → Reshape where the first only merges axes: transposed before that, and both
// Reshapes are one. Heads that were merged into the batch axis go back behind their tokens.
std::optional<Replacement> merged_behind_transpose(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Reshape>(*node.op)) return std::nullopt;
  const Node* moved = pattern.maker(node.inputs[0]);
  if (moved == nullptr || axis_order(*moved->op).empty()) return std::nullopt;
  const Node* merge = pattern.made_by<ops::Reshape>(moved->inputs[0]);
  if (merge == nullptr) return std::nullopt;
  const auto parts = splits(pattern.shape(merge->outputs[0]), pattern.shape(merge->inputs[0]));
  if (!parts) return std::nullopt;
  std::vector<int> first, order;
  int count = 0;
  for (const Shape& part : *parts) {
    first.push_back(count);
    count += static_cast<int>(part.size());
  }
  for (const int axis : axis_order(*moved->op)) {
    for (size_t i = 0; i < (*parts)[axis].size(); ++i)
      order.push_back(first[axis] + static_cast<int>(i));
  }
  const Shape shape = pattern.shape(node.outputs[0]);
  return Replacement{
      {merge->inputs[0]},
      [order, shape](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
        return reshape(graph, transpose(graph, inputs[0], order, name), shape, name);
      }};
}

// Whether a transposition moves only axes of length 1: the longer ones keep their order.
bool moves_only_ones(const std::vector<int>& order, const Shape& shape) {
  int last = -1;
  for (const int axis : order) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

// Between two Reshapes, moving only axes of length 1 is a Reshape too.
std::optional<Replacement> transpose_of_ones(const Pattern& pattern, const Node& node) {
  const std::vector<int> order = axis_order(*node.op);
  if (order.empty() || pattern.made_by<ops::Reshape>(node.inputs[0]) == nullptr)
    return std::nullopt;
  for (const int user : pattern.graph.users(node.outputs[0])) {
    if (!is_a<ops::Reshape>(*pattern.graph.nodes()[user].op)) return std::nullopt;
  }
  if (!moves_only_ones(order, pattern.shape(node.inputs[0]))) return std::nullopt;
  const Shape shape = pattern.shape(node.outputs[0]);
  return Replacement{
      {node.inputs[0]},
      [shape, order](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
        return reshape(graph, inputs[0], shape, order, name);
      }};
}

// Where axes of length 1 are put between others: for each axis of `to` the one of `from` that it
// is, -1 for new ones; nothing where more than that is done.
std::optional<std::vector<int>> put_between(const Shape& from, const Shape& to) {
  std::vector<int> sources;
  size_t at = 0;
  for (const int64_t length : to) {
    const bool known = at < from.size() && from[at] == length;
    if (!known && length != 1) return std::nullopt;
    sources.push_back(known ? static_cast<int>(at++) : -1);
  }
  return at == from.size() && to.size() > from.size() ? std::optional(sources) : std::nullopt;
}

// New axes of length 1 that are then moved: the others are moved without them, which may undo
// another move.
std::optional<Replacement> ones_behind_transpose(const Pattern& pattern, const Node& node) {
  const std::vector<int> order = axis_order(*node.op);
  const Node* widened = order.empty() ? nullptr : pattern.made_by<ops::Reshape>(node.inputs[0]);
  const Node* moved = widened == nullptr ? nullptr : pattern.maker(widened->inputs[0]);
  if (moved == nullptr || axis_order(*moved->op).empty()) return std::nullopt;
  const auto sources =
      put_between(pattern.shape(widened->inputs[0]), pattern.shape(widened->outputs[0]));
  if (!sources) return std::nullopt;
  std::vector<int> kept, new_sources;
  for (const int axis : order) {
    const int source = (*sources)[axis];
    new_sources.push_back(source < 0 ? -1 : static_cast<int>(kept.size()));
    if (source >= 0) kept.push_back(source);
  }
  const Shape shape = pattern.shape(node.outputs[0]);
  return Replacement{{widened->inputs[0]},
                     [kept, shape, new_sources](GraphBuilder& graph, std::span<const Value> inputs,
                                                const std::string& name) {
                       return reshape(graph, transpose(graph, inputs[0], kept, name), shape,
                                      new_sources, name);
                     }};
}

// All elements of a flat value picked in their order, as PyTorch's as_strided comes out.
std::optional<Replacement> gather_of_everything(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Gather>(*node.op) || pattern.rank(node.inputs[0]) != 1) return std::nullopt;
  const Tensor* index = pattern.constant(node.inputs[1]);
  if (index == nullptr || index->size() != pattern.shape(node.inputs[0])[0]) return std::nullopt;
  double next = 0;
  for (const double number : index->to_doubles()) {
    if (number != next++) return std::nullopt;
  }
  const Shape shape = pattern.shape(node.outputs[0]);
  return Replacement{
      {node.inputs[0]},
      [shape](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
        return reshape(graph, inputs[0], shape, name);
      }};
}

// A softmax gives 0 where everything is hidden, so nothing is left to repair behind it.
std::optional<Replacement> repaired_softmax(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Where>(*node.op)) return std::nullopt;
  const Value p = node.inputs[2];
  const Node* is_nan = pattern.made_by<ops::IsNaN>(node.inputs[0]);
  const Node* softmax = pattern.maker(p);
  if (is_nan == nullptr || is_nan->inputs[0] != p || softmax == nullptr ||
      !is_a<ops::Softmax>(*softmax->op)) {
    return std::nullopt;
  }
  const Tensor* otherwise = pattern.constant(node.inputs[1]);
  if (otherwise == nullptr || !all_equal(*otherwise, 0)) return std::nullopt;
  return same_as(p);
}

constexpr RewriteRule kRules[] = {
    neutral_operand,        reshape_of_reshape,   transpose_of_transpose,
    split_behind_transpose, transpose_of_ones,    merged_behind_transpose,
    ones_behind_transpose,  gather_of_everything, repaired_softmax};

}  // namespace

std::span<const RewriteRule> plain_rewrites() { return kRules; }

}  // namespace whyformer::onnx
