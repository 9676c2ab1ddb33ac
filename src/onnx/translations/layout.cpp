// Operators that rearrange, join, cut and repeat.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "onnx/operators.h"
#include "onnx/translations/parts.h"
#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

// 0 keeps the length of that axis, -1 is what remains.
std::vector<Value> translate_reshape(NodeScope& scope) {
  const Shape from = scope.shape(0);
  Shape shape = scope.has(1) ? scope.integers(1) : scope.integer_list("shape");
  const bool keeps_zeros = scope.integer("allowzero", 0) != 0;
  const std::string asked = to_string(shape);
  int64_t* open = nullptr;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == -1 && open == nullptr) {
      open = &shape[axis];
      shape[axis] = 1;
    } else if (shape[axis] == 0 && !keeps_zeros) {
      if (axis >= from.size()) {
        throw InvalidInput(fmt::format("the shape {} keeps axis {}, which {} does not have", asked,
                                       axis, to_string(from)));
      }
      shape[axis] = from[axis];
    }
  }
  check_size(shape);
  if (open != nullptr) {
    const int64_t others = element_count(shape);
    if (others == 0 || element_count(from) % others != 0) {
      throw InvalidInput(fmt::format("{} cannot be reshaped to {}", to_string(from), asked));
    }
    *open = element_count(from) / others;
  }
  return {reshaped(scope, scope.input(0), shape)};
}

std::vector<Value> translate_transpose(NodeScope& scope) {
  const int rank = scope.rank(0);
  std::vector<int> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  if (scope.has_attribute("perm")) {
    const std::vector<int64_t> given = scope.integer_list("perm");
    std::vector<int64_t> sorted = given;
    std::sort(sorted.begin(), sorted.end());
    bool permutes = static_cast<int>(given.size()) == rank;
    for (int axis = 0; permutes && axis < rank; ++axis) permutes = sorted[axis] == axis;
    if (!permutes) {
      throw InvalidInput(fmt::format("[{}] is no order of the axes of {}", fmt::join(given, ", "),
                                     to_string(scope.shape(0))));
    }
    order.assign(given.begin(), given.end());
  }
  return {permuted(scope, scope.input(0), order)};
}

// Which axes a list names, each once.
std::vector<bool> marked_axes(NodeScope& scope, const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> marked(rank, false);
  for (const int64_t given : axes) {
    const int axis = scope.axis(given, rank);
    if (marked[axis]) throw InvalidInput(fmt::format("axis {} is named twice", axis));
    marked[axis] = true;
  }
  return marked;
}

// Input 0 with these of its axes, in their order, and new ones where -1 stands.
Value with_axes(NodeScope& scope, const std::vector<int>& sources) {
  const Shape from = scope.shape(0);
  if (sources.size() == from.size()) return scope.input(0);
  Shape shape;
  for (const int source : sources) shape.push_back(source < 0 ? 1 : from[source]);
  return reshape(scope.graph(), scope.input(0), shape, sources, scope.name());
}

std::vector<Value> translate_squeeze(NodeScope& scope) {
  const Shape from = scope.shape(0);
  const auto axes = scope.axes(1);
  const std::vector<bool> leaves = marked_axes(scope, axes.value_or(Shape()), scope.rank(0));
  std::vector<int> sources;
  for (int axis = 0; axis < scope.rank(0); ++axis) {
    if (leaves[axis] && from[axis] != 1) {
      throw InvalidInput(fmt::format("axis {} of {} has not the length 1", axis, to_string(from)));
    }
    if (!(axes ? leaves[axis] : from[axis] == 1)) sources.push_back(axis);
  }
  return {with_axes(scope, sources)};
}

std::vector<Value> translate_unsqueeze(NodeScope& scope) {
  const std::vector<int64_t> axes = scope.axes(1).value_or(Shape());
  const int rank = scope.rank(0) + static_cast<int>(axes.size());
  const std::vector<bool> is_new = marked_axes(scope, axes, rank);
  std::vector<int> sources;
  int next = 0;
  for (int axis = 0; axis < rank; ++axis) sources.push_back(is_new[axis] ? -1 : next++);
  return {with_axes(scope, sources)};
}

std::vector<Value> translate_flatten(NodeScope& scope) {
  const Shape from = scope.shape(0);
  const int64_t rank = scope.rank(0);
  const int64_t given = scope.integer("axis", 1);
  if (given < -rank || given > rank) {
    throw InvalidInput(fmt::format("there is no axis {} in {}", given, to_string(from)));
  }
  const auto middle = from.begin() + (given < 0 ? given + rank : given);
  const Shape rows(from.begin(), middle), columns(middle, from.end());
  return {reshaped(scope, scope.input(0), {element_count(rows), element_count(columns)})};
}

std::vector<Value> translate_expand(NodeScope& scope) {
  const Shape from = scope.shape(0);
  const Shape shape = scope.integers(1);
  bool stays = shape.size() <= from.size();
  for (size_t i = 0; stays && i < shape.size(); ++i) {
    const int64_t length = shape[shape.size() - 1 - i];
    stays = length == 1 || length == from[from.size() - 1 - i];
  }
  if (stays) return {scope.input(0)};
  return {expand(scope.graph(), scope.input(0), shape, scope.name())};
}

// Repeating axes of length 1 only is an Expand, which is a view.
std::vector<Value> translate_tile(NodeScope& scope) {
  if (scope.opset() < 6) scope.fail("of an opset below 6 is not supported");
  const Shape from = scope.shape(0);
  const std::vector<int64_t> repeats = scope.integers(1);
  bool expands = repeats.size() == from.size(), stays = expands;
  for (size_t axis = 0; expands && axis < repeats.size(); ++axis) {
    stays = stays && repeats[axis] == 1;
    expands = repeats[axis] == 1 || (from[axis] == 1 && repeats[axis] > 1);
  }
  if (stays) return {scope.input(0)};
  if (!expands) return {tile(scope.graph(), scope.input(0), repeats, scope.name())};
  Shape shape = from;
  for (size_t axis = 0; axis < shape.size(); ++axis) shape[axis] *= repeats[axis];
  return {expand(scope.graph(), scope.input(0), shape, scope.name())};
}

// Parts of length 0 are left out.
std::vector<Value> translate_concat(NodeScope& scope) {
  const int rank = scope.rank(0);
  const int axis = scope.axis(scope.integer("axis", 1), rank);
  std::vector<Value> parts;
  for (size_t index = 0; index < scope.count(); ++index) {
    if (scope.rank(index) != rank || scope.dtype(index) != scope.dtype(0)) {
      throw InvalidInput(fmt::format("{} and {} cannot be joined", to_string(scope.shape(0)),
                                     to_string(scope.shape(index))));
    }
    if (scope.shape(index)[axis] > 0) parts.push_back(scope.input(index));
  }
  if (parts.empty()) return {scope.input(0)};
  if (parts.size() == 1) return {parts[0]};
  return {concat(scope.graph(), parts, axis, scope.name())};
}

Value sliced(NodeScope& scope, Value x, int axis, int64_t start, int64_t length) {
  if (start == 0 && length == scope.graph().shape(x)[axis]) return x;
  return slice(scope.graph(), x, axis, start, length, scope.name());
}

std::vector<int64_t> split_lengths(NodeScope& scope, int64_t length) {
  if (scope.has(1)) return scope.integers(1);
  if (scope.has_attribute("split")) return scope.integer_list("split");
  const auto outputs = static_cast<int64_t>(scope.node().outputs.size());
  const int64_t count = scope.integer("num_outputs", outputs);
  if (count < 1 || count != outputs) {
    throw InvalidInput(
        fmt::format("{} parts are asked for but there are {} outputs", count, outputs));
  }
  const int64_t part = length / count + (length % count != 0);
  std::vector<int64_t> lengths;
  for (int64_t start = 0; static_cast<int64_t>(lengths.size()) < count; start += part) {
    lengths.push_back(std::clamp<int64_t>(length - start, 0, part));
  }
  return lengths;
}

std::vector<Value> translate_split(NodeScope& scope) {
  const int axis = scope.axis(scope.integer("axis", 0), scope.rank(0));
  const int64_t length = scope.shape(0)[axis];
  const std::vector<int64_t> lengths = split_lengths(scope, length);
  std::vector<Value> parts;
  int64_t start = 0;
  for (const int64_t part : lengths) {
    if (part < 0 || part > length - start) break;
    parts.push_back(sliced(scope, scope.input(0), axis, start, part));
    start += part;
  }
  if (parts.size() != lengths.size() || start != length) {
    throw InvalidInput(fmt::format("an axis of length {} cannot be split into [{}]", length,
                                   fmt::join(lengths, ", ")));
  }
  return parts;
}

// Positions of one axis as ONNX's Slice counts them: from the end where negative, cut to the axis.
struct Cut {
  int64_t start = 0;
  int64_t step = 1;
  int64_t length = 0;

  Cut(int64_t from, int64_t to, int64_t by, int64_t size) : step(std::max(by, -kFar)) {
    if (size == 0) return;
    // Clamped before anything is added: -2^63 and 2^63 - 1 stand for the ends.
    const auto counted = [size](int64_t position) {
      return position < -size ? -1 : position < 0 ? position + size : std::min(position, size);
    };
    const int64_t last = step > 0 ? size : size - 1;
    start = std::clamp<int64_t>(counted(from), 0, last);
    const int64_t end = std::clamp<int64_t>(counted(to), step > 0 ? 0 : -1, last);
    const int64_t distance = step > 0 ? end - start : start - end;
    if (distance > 0) length = (distance - 1) / (step > 0 ? step : -step) + 1;
  }

 private:
  static constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
};

std::vector<Value> translate_slice(NodeScope& scope) {
  const bool by_inputs = scope.opset() >= 10;
  const auto starts = by_inputs ? scope.integers(1) : scope.integer_list("starts");
  const auto ends = by_inputs ? scope.integers(2) : scope.integer_list("ends");
  std::vector<int64_t> axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = scope.axes(3)) axes = *given;
  const auto steps = by_inputs && scope.has(4) ? scope.integers(4) : Shape(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    throw InvalidInput(fmt::format("{} starts, {} ends, {} axes and {} steps do not go together",
                                   starts.size(), ends.size(), axes.size(), steps.size()));
  }
  marked_axes(scope, axes, scope.rank(0));
  Value x = scope.input(0);
  for (size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] == 0) throw InvalidInput("a step of 0 leads nowhere");
    const int axis = scope.axis(axes[i], scope.rank(0));
    const Cut cut(starts[i], ends[i], steps[i], scope.shape(0)[axis]);
    x = cut.step == 1 || cut.length <= 1
            ? sliced(scope, x, axis, cut.start, cut.length)
            : strided_slice(scope.graph(), x, axis, cut.start, cut.step, cut.length, scope.name());
  }
  return {x};
}

PadMode pad_mode(NodeScope& scope) {
  const std::string mode = scope.text("mode", "constant");
  if (mode == "constant") return PadMode::kConstant;
  if (mode == "edge") return PadMode::kEdge;
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "wrap") return PadMode::kWrap;
  scope.fail(fmt::format("has the unknown mode '{}'", mode));
}

std::vector<Value> translate_pad(NodeScope& scope) {
  const int rank = scope.rank(0);
  const bool by_inputs = scope.opset() >= 11;
  const std::vector<int64_t> pads =
      by_inputs ? scope.integers(1)
                : scope.integer_list(scope.has_attribute("pads") ? "pads" : "paddings");
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (by_inputs && scope.has(3)) axes = scope.integers(3);
  if (pads.size() != 2 * axes.size()) {
    throw InvalidInput(fmt::format("{} pads do not fit {} axes", pads.size(), axes.size()));
  }
  marked_axes(scope, axes, rank);
  std::vector<int64_t> before(rank, 0), after(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = scope.axis(axes[i], rank);
    before[axis] = pads[i];
    after[axis] = pads[axes.size() + i];
  }
  if (std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; })) {
    return {scope.input(0)};
  }
  const double value = !by_inputs ? scope.real("value", 0) : scope.has(2) ? scope.number(2) : 0;
  return {pad(scope.graph(), scope.input(0), before, after, pad_mode(scope), value, scope.name())};
}

std::vector<Value> translate_trilu(NodeScope& scope) {
  int64_t offset = 0;
  if (scope.has(1)) {
    const std::vector<int64_t> given = scope.integers(1);
    if (given.size() != 1) throw InvalidInput("the diagonal must be one number");
    offset = given[0];
  }
  return {triangle(scope.graph(), scope.input(0), scope.integer("upper", 1) != 0, offset,
                   scope.name())};
}

// The size of blocks of pixels, checked against a picture [batch, channels, height, width].
int64_t block_size(NodeScope& scope) {
  if (scope.rank(0) != 4) {
    throw InvalidInput("a picture has 4 axes but the shape is " + to_string(scope.shape(0)));
  }
  const int64_t size = scope.integer("blocksize", 0);
  if (size < 1 || size > (1 << 15)) {
    throw InvalidInput(fmt::format("{} is no size of blocks", size));
  }
  return size;
}

[[noreturn]] void refuse_blocks(NodeScope& scope, int64_t size) {
  throw InvalidInput(
      fmt::format("{} cannot be divided into blocks of {}", to_string(scope.shape(0)), size));
}

std::vector<Value> translate_depth_to_space(NodeScope& scope) {
  const int64_t size = block_size(scope);
  const Shape s = scope.shape(0);
  if (s[1] % (size * size) != 0) refuse_blocks(scope, size);
  const int64_t channels = s[1] / (size * size);
  const bool depth_first = scope.text("mode", "DCR") == "DCR";
  const Value split = reshaped(scope, scope.input(0),
                               depth_first ? Shape{s[0], size, size, channels, s[2], s[3]}
                                           : Shape{s[0], channels, size, size, s[2], s[3]});
  const Value moved = permuted(
      scope, split, depth_first ? std::vector{0, 3, 4, 1, 5, 2} : std::vector{0, 1, 4, 2, 5, 3});
  return {reshaped(scope, moved, {s[0], channels, s[2] * size, s[3] * size})};
}

std::vector<Value> translate_space_to_depth(NodeScope& scope) {
  const int64_t size = block_size(scope);
  const Shape s = scope.shape(0);
  if (s[2] % size != 0 || s[3] % size != 0) refuse_blocks(scope, size);
  const int64_t height = s[2] / size, width = s[3] / size;
  const bool depth_first = scope.text("mode", "DCR") == "DCR";
  const Value split = reshaped(scope, scope.input(0), {s[0], s[1], height, size, width, size});
  const Value moved = permuted(
      scope, split, depth_first ? std::vector{0, 3, 5, 1, 2, 4} : std::vector{0, 1, 3, 5, 2, 4});
  return {reshaped(scope, moved, {s[0], s[1] * size * size, height, width})};
}

constexpr OnnxOperator kOperators[] = {
    {"", "Concat", translate_concat}, {"", "DepthToSpace", translate_depth_to_space},
    {"", "Expand", translate_expand}, {"", "Flatten", translate_flatten},
    {"", "Pad", translate_pad},       {"", "Reshape", translate_reshape},
    {"", "Slice", translate_slice},   {"", "SpaceToDepth", translate_space_to_depth},
    {"", "Split", translate_split},   {"", "Squeeze", translate_squeeze},
    {"", "Tile", translate_tile},     {"", "Transpose", translate_transpose},
    {"", "Trilu", translate_trilu},   {"", "Unsqueeze", translate_unsqueeze},
};

}  // namespace

std::span<const OnnxOperator> layout_operators() { return kOperators; }

}  // namespace whyformer::onnx
