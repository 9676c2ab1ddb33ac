#include "discovery/stream_origin.h"

#include "ops/ops.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace whyformer {
namespace {

using Kind = StreamSegment::Kind;

constexpr int kDeepest = 2'000;  // steps back along one axis
constexpr int kLongestDetour = 16;

int64_t elements_from(const Shape& shape, int axis) {
  return std::accumulate(shape.begin() + axis, shape.end(), int64_t{1}, std::multiplies<>());
}

bool is_convolution(const Node& node) { return is_a<ops::Conv>(*node.op); }

class OriginFinder {
 public:
  explicit OriginFinder(const Graph& graph) : graph_(graph) {}

  std::vector<StreamSegment> of(Value value, int axis, int steps = 0) const {
    const int64_t length = graph_.shape(value)[axis];
    const int producer = graph_.producer(value);
    if (producer < 0) return {from_input(value, length, axis)};
    const Node& node = graph_.nodes()[producer];
    if (!graph_.varies(value)) return {{Kind::kLearned, "", length, {}}};
    if (steps > kDeepest) return {{Kind::kUnknown, input_behind(value), length, {}}};
    if (const auto source = varying_source(node, axis)) {
      return of(source->value, source->axis, steps + 1);
    }
    // Queries that are weights vary only with what they attend to.
    if (has_constant_source(node, axis)) return {{Kind::kLearned, "", length, {}}};
    if (is_a<ops::Concat>(*node.op)) return joined(node, axis, steps);
    if (is_convolution(node) && axis >= 2) {
      return {{Kind::kFrames, input_behind(value), length, {}, axes_behind({{value, axis}})}};
    }
    if (is_a<ops::Reshape>(*node.op) && length == 1) return {one_of(value)};
    if (const auto whole = split_axis(node, axis)) {
      const std::vector<int> axes = axes_behind({{node.inputs[0], *whole}});
      if (!axes.empty()) return {{Kind::kFrames, input_behind(value), length, {}, axes}};
    }
    if (is_a<ops::Reshape>(*node.op)) {
      if (const auto before = behind_detour(value, axis))
        return of(before->value, before->axis, steps + 1);
      return {merged(node, axis, value)};
    }
    return {{Kind::kUnknown, input_behind(value), length, {}}};
  }

 private:
  struct Axis {
    Value value;
    int axis = 0;
  };

  StreamSegment from_input(Value value, int64_t length, int axis) const {
    const bool ids = graph_.type(value).dtype == DType::kInt64;
    return {ids ? Kind::kTokens : Kind::kFeatures, graph_.name(value), length, {}, {axis}};
  }

  // Positions along an axis: position p has the indices i with p = i / inner % cells.
  struct Positions {
    Value value;
    int axis = 0;
    int64_t inner = 1;
    int64_t cells = 0;
  };
  Positions all_of(const Axis& at) const {
    return {at.value, at.axis, 1, graph_.shape(at.value)[at.axis]};
  }
  bool covers_axis(const Positions& at) const {
    return at.inner * at.cells == graph_.shape(at.value)[at.axis];
  }

  // The same positions in front of a Reshape, which may split an axis or put others into it.
  std::optional<Positions> behind_reshape(const Node& node, const Positions& at) const {
    const Shape& from = graph_.shape(node.inputs[0]);
    const int64_t stride = at.inner * elements_from(graph_.shape(at.value), at.axis + 1);
    for (int axis = 0; axis < static_cast<int>(from.size()); ++axis) {
      const int64_t below = elements_from(from, axis + 1);
      if (below <= 0 || stride < below || stride >= below * from[axis] || stride % below != 0)
        continue;
      if (from[axis] % (stride / below * at.cells) == 0)
        return Positions{node.inputs[0], axis, stride / below, at.cells};
    }
    return std::nullopt;
  }

  // One step back, past convolutions and pools, which keep the order of positions.
  std::optional<Positions> step_back(const Positions& at) const {
    const Node& node = graph_.nodes()[graph_.producer(at.value)];
    if (const auto source = varying_source(node, at.axis))
      return Positions{source->value, source->axis, at.inner, at.cells};
    if (is_a<ops::Reshape>(*node.op)) return behind_reshape(node, at);
    const bool keeps_order = is_a<ops::Conv, ops::MaxPool, ops::AveragePool>(*node.op);
    if (!keeps_order || at.axis < 2 || !covers_axis(at)) return std::nullopt;
    return all_of({node.inputs[0], at.axis});
  }

  // The axis of a model's input behind each of these; none where one of them is not found.
  std::vector<int> axes_behind(const std::vector<Axis>& axes) const {
    std::vector<int> found;
    for (const Axis& axis : axes) {
      std::optional<Positions> at = all_of(axis);
      for (int steps = 0; at && steps <= kDeepest && graph_.producer(at->value) >= 0; ++steps)
        at = step_back(*at);
      if (!at || graph_.producer(at->value) >= 0 || !covers_axis(*at)) return {};
      found.push_back(at->axis);
    }
    return found;
  }

  // The axis behind views that put it into another one and back, as a norm over groups of channels
  // does.
  std::optional<Axis> behind_detour(Value value, int axis) const {
    std::optional<Positions> at = all_of({value, axis});
    for (int steps = 0; steps < kLongestDetour && graph_.producer(at->value) >= 0; ++steps) {
      if (is_convolution(graph_.nodes()[graph_.producer(at->value)])) return std::nullopt;
      at = step_back(*at);
      if (!at) return std::nullopt;
      if (at->inner == 1 && covers_axis(*at)) return Axis{at->value, at->axis};
    }
    return std::nullopt;
  }

  // A column of an input that became a token of its own.
  StreamSegment one_of(Value value) const {
    while (graph_.producer(value) >= 0) {
      const std::optional<Value> next = varying_input(graph_.nodes()[graph_.producer(value)]);
      if (!next) return {Kind::kUnknown, "", 1, {}};
      value = *next;
    }
    return from_input(value, 1, static_cast<int>(graph_.shape(value).size()) - 1);
  }

  std::optional<Value> varying_input(const Node& node) const {
    const auto found = std::find_if(node.inputs.begin(), node.inputs.end(),
                                    [&](Value input) { return graph_.varies(input); });
    return found == node.inputs.end() ? std::nullopt : std::optional(*found);
  }

  // The axis in an input of the node that shares its positions and follows what is explained.
  std::optional<Axis> varying_source(const Node& node, int axis) const {
    std::vector<ValueType> types;
    for (const Value input : node.inputs) types.push_back(graph_.type(input));
    const auto flow = node.op->follow(axis, types);
    if (!flow) return std::nullopt;
    for (size_t input = 0; input < flow->sources.size(); ++input) {
      const Value source = node.inputs[input];
      if (flow->sources[input] >= 0 && graph_.varies(source))
        return Axis{source, flow->sources[input]};
    }
    return std::nullopt;
  }

  // Whether the node has the axis from what does not vary; where others are put into it, they
  // matter more.
  bool has_constant_source(const Node& node, int axis) const {
    if (is_a<ops::ScatterElements, ops::ScatterND>(*node.op)) return false;
    std::vector<ValueType> types;
    for (const Value input : node.inputs) types.push_back(graph_.type(input));
    const auto flow = node.op->follow(axis, types);
    return flow && std::any_of(flow->sources.begin(), flow->sources.end(),
                               [](int source) { return source >= 0; });
  }

  std::vector<StreamSegment> joined(const Node& node, int axis, int steps) const {
    std::vector<StreamSegment> all;
    for (const Value input : node.inputs) {
      const auto part = of(input, axis, steps + 1);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  // The axis that a Reshape splits into steps along `axis` and what is behind it.
  std::optional<int> split_axis(const Node& node, int axis) const {
    if (!is_a<ops::Reshape>(*node.op)) return std::nullopt;
    const Shape &from = graph_.shape(node.inputs[0]), &to = graph_.shape(node.outputs[0]);
    const auto elements = [](Shape::const_iterator first, Shape::const_iterator last) {
      return std::accumulate(first, last, int64_t{1}, std::multiplies<>());
    };
    const int64_t before = elements(to.begin(), to.begin() + axis),
                  behind = elements(to.begin() + axis + 1, to.end());
    for (int whole = 0; whole < static_cast<int>(from.size()); ++whole) {
      const int64_t below = elements(from.begin() + whole + 1, from.end());
      const bool same_start = elements(from.begin(), from.begin() + whole) == before;
      if (same_start && below > 0 && behind % below == 0 &&
          from[whole] == to[axis] * (behind / below))
        return whole;
    }
    return std::nullopt;
  }

  // Neighbouring axes of a picture as one.
  StreamSegment merged(const Node& node, int axis, Value value) const {
    const Shape& from = graph_.shape(node.inputs[0]);
    const Shape& to = graph_.shape(value);
    StreamSegment segment{Kind::kUnknown, input_behind(value), to[axis], {}};
    int64_t before = 1;
    for (int i = 0; i < axis; ++i) before *= to[i];
    size_t first = 0;
    for (int64_t count = 1; first < from.size() && count < before; ++first) count *= from[first];
    int64_t product = 1;
    std::vector<int64_t> grid;
    std::vector<Axis> axes;
    for (size_t at = first; at < from.size() && product < to[axis]; ++at) {
      product *= from[at];
      if (from[at] == 1) continue;
      grid.push_back(from[at]);
      axes.push_back({node.inputs[0], static_cast<int>(at)});
    }
    if (product != to[axis]) return segment;
    // Positions of an input that is a map itself, or is cut into patches by views, or that a
    // convolution walks over.
    const std::vector<int> positions = axes_behind(axes);
    if (positions.empty() && !reads_convolution(node.inputs[0])) return segment;
    segment.kind = grid.size() >= 2 ? Kind::kPatches : Kind::kFrames;
    segment.grid = grid.size() >= 2 ? grid : std::vector<int64_t>();
    segment.axes = positions;
    return segment;
  }

  // Whether a convolution made the value, perhaps followed by views and what works element by
  // element.
  bool reads_convolution(Value value) const {
    for (int steps = 0; steps < 64 && graph_.producer(value) >= 0; ++steps) {
      const Node& node = graph_.nodes()[graph_.producer(value)];
      if (is_convolution(node)) return true;
      const std::optional<Value> next = varying_input(node);
      if (!next) return false;
      value = *next;
    }
    return false;
  }

  // The model's input that the value depends on; the first of several.
  std::string input_behind(Value value) const {
    while (graph_.producer(value) >= 0) {
      const std::optional<Value> next = varying_input(graph_.nodes()[graph_.producer(value)]);
      if (!next) return "";
      value = *next;
    }
    return graph_.name(value);
  }

  const Graph& graph_;
};

// Neighbouring segments of one origin as one.
std::vector<StreamSegment> shortened(const std::vector<StreamSegment>& segments) {
  std::vector<StreamSegment> result;
  for (const StreamSegment& segment : segments) {
    const bool same = !result.empty() && result.back().kind == segment.kind &&
                      result.back().input == segment.input && segment.grid.empty() &&
                      result.back().grid.empty();
    if (same) {
      result.back().length += segment.length;
    } else {
      result.push_back(segment);
    }
  }
  return result;
}

}  // namespace

std::vector<StreamSegment> stream_segments(const Graph& graph, const AxisClasses& classes,
                                           int axis_class, int64_t tokens) {
  // Where the first value of the stream comes from that follows the input; its constants
  // (positions, object queries) say less.
  std::vector<StreamSegment> found;
  bool has_constants = false;
  for (const Node& node : graph.nodes()) {
    const Value value = node.outputs[0];
    if (graph.type(value).dtype == DType::kInt64) continue;
    for (size_t axis = 0; axis < graph.shape(value).size(); ++axis) {
      if (classes.of(value, static_cast<int>(axis)) != axis_class) continue;
      has_constants = has_constants || !graph.varies(value);
      if (graph.varies(value) && found.empty()) {
        found = shortened(OriginFinder(graph).of(value, static_cast<int>(axis)));
      }
    }
  }
  if (found.empty() && has_constants) return {{Kind::kLearned, "", tokens, {}}};
  if (found.empty()) return {{Kind::kUnknown, "", tokens, {}}};
  return found;
}

}  // namespace whyformer
