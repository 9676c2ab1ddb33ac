// Fused attention, spelled out again as softmax(scale · q·kᵀ + mask)·v, so that its map is a value
// of the graph.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "onnx/operators.h"
#include "onnx/translations/attention_parts.h"
#include "onnx/translations/parts.h"
#include "ops/arithmetic.h"
#include "ops/gathering.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

bool wants_output(const NodeScope& scope, size_t index) {
  return index < scope.node().outputs.size() && !scope.node().outputs[index].empty();
}

int64_t heads_of(NodeScope& scope, std::string_view attribute) {
  const int64_t heads = scope.integer(attribute, 0);
  if (heads <= 0) scope.fail(fmt::format("does not say its {}", attribute));
  return heads;
}

// What a cache of earlier tokens holds goes in front; a cache of length 0 adds nothing.
Value behind_past(NodeScope& scope, size_t past_index, Value x) {
  if (!scope.has(past_index) || scope.shape(past_index, 4)[2] == 0) return x;
  return concat(scope.graph(), scope.input(past_index), x, 2, scope.name());
}

// ---- com.microsoft Attention
// ----------------------------------------------------------------------

// Columns [start, start + count) of the packed projection.
Value projection(NodeScope& scope, int64_t start, int64_t count) {
  const auto columns = [&](size_t index, int axis) {
    return slice(scope.graph(), scope.input(index), axis, start, count, scope.name());
  };
  const Value bias = scope.has(2) ? columns(2, 0) : Value{};
  return linear_product(scope, scope.input(0), columns(1, 1), bias);
}

std::vector<Value> translate_packed_attention(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const int64_t heads = heads_of(scope, "num_heads");
  const int64_t packed = scope.shape(1, 2)[1];
  std::vector<int64_t> sizes = scope.integer_list("qkv_hidden_sizes");
  if (sizes.size() != 3) sizes = {packed / 3, packed / 3, packed / 3};
  for (const int64_t size : sizes) {
    if (size < 0 || size > packed)
      throw InvalidInput(fmt::format("{} of {} columns", size, packed));
  }
  const Value q = split_heads(scope, projection(scope, 0, sizes[0]), heads);
  Value k = split_heads(scope, projection(scope, sizes[0], sizes[1]), heads);
  Value v = split_heads(scope, projection(scope, sizes[0] + sizes[1], sizes[2]), heads);
  if (scope.has(4) && scope.shape(4, 5)[3] > 0) {
    const auto part = [&](int64_t index) {
      const Value one = slice(graph, scope.input(4), 0, index, 1, scope.name());
      Shape shape = graph.shape(one);
      shape.erase(shape.begin());
      return reshaped(scope, one, shape);
    };
    k = concat(graph, part(0), k, 2, scope.name());
    v = concat(graph, part(1), v, 2, scope.name());
  }
  Masks masks{scope, graph.shape(q)[2], graph.shape(k)[2]};
  const double filter = scope.real("mask_filter_value", -10000);
  if (scope.has(3)) masks.add_microsoft(scope.input(3), graph.shape(q)[0], filter);
  if (scope.integer("unidirectional", 0) != 0) masks.add_causal();
  if (scope.has(5)) masks.add(scope.input(5));
  std::vector<Value> outputs{
      merge_heads(scope, attend(scope, {q, k, v}, masks, scope.real("scale", 0)).context)};
  if (wants_output(scope, 1)) {
    const auto stacked = [&](Value x) {
      Shape shape = graph.shape(x);
      shape.insert(shape.begin(), 1);
      return reshaped(scope, x, shape);
    };
    outputs.push_back(concat(graph, stacked(k), stacked(v), 0, scope.name()));
  }
  return outputs;
}

// ---- com.microsoft MultiHeadAttention
// -------------------------------------------------------------

// [batch, tokens, heads, parts, width] taken apart into [batch, heads, tokens, width] each.
Value unpacked(NodeScope& scope, size_t index, int64_t part) {
  const Shape shape = scope.shape(index, 5);
  const Value one = slice(scope.graph(), scope.input(index), 3, part, 1, scope.name());
  return permuted(scope, reshaped(scope, one, {shape[0], shape[1], shape[2], shape[4]}),
                  {0, 2, 1, 3});
}

// An operand as heads, with its part of the bias; 4-D ones have heads already.
Value with_heads(NodeScope& scope, size_t index, int64_t heads, int64_t bias_start) {
  Value x = scope.input(index);
  if (scope.rank(index) == 4) return x;
  if (scope.has(3)) {
    const int64_t width = scope.shape(index, 3)[2];
    x = add(scope.graph(), x,
            slice(scope.graph(), scope.input(3), 0, bias_start, width, scope.name()), scope.name());
  }
  return split_heads(scope, x, heads);
}

std::vector<Value> translate_multi_head_attention(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const int64_t heads = heads_of(scope, "num_heads");
  Value q, k, v;
  if (scope.rank(0) == 5) {
    q = unpacked(scope, 0, 0), k = unpacked(scope, 0, 1), v = unpacked(scope, 0, 2);
  } else {
    const int64_t width = scope.rank(0) == 4 ? 0 : scope.shape(0, 3)[2];
    q = with_heads(scope, 0, heads, 0);
    const bool packed = scope.rank(1) == 5;
    k = packed ? unpacked(scope, 1, 0) : with_heads(scope, 1, heads, width);
    v = packed ? unpacked(scope, 1, 1) : with_heads(scope, 2, heads, 2 * width);
  }
  k = behind_past(scope, 6, k);
  v = behind_past(scope, 7, v);
  Masks masks{scope, graph.shape(q)[2], graph.shape(k)[2]};
  const double filter = scope.real("mask_filter_value", -10000);
  if (scope.has(4)) masks.add_microsoft(scope.input(4), graph.shape(q)[0], filter);
  if (scope.integer("unidirectional", 0) != 0) masks.add_causal();
  if (scope.has(5)) masks.add(scope.input(5));
  const Attended attended = attend(scope, {q, k, v}, masks, scope.real("scale", 0));
  return {merge_heads(scope, attended.context), k, v, attended.scores};
}

// ---- ai.onnx Attention (opset 23)
// -----------------------------------------------------------------

// Key heads that several query heads share, once for each of them.
Value repeated_heads(NodeScope& scope, Value x, int64_t heads) {
  const Shape shape = scope.graph().shape(x);
  if (shape[1] == heads) return x;
  if (shape[1] == 0 || heads % shape[1] != 0) scope.fail("has query heads that no key head serves");
  const int64_t times = heads / shape[1];
  const Value apart = reshaped(scope, x, {shape[0], shape[1], 1, shape[2], shape[3]});
  const Value repeated =
      expand(scope.graph(), apart, {shape[0], shape[1], times, shape[2], shape[3]}, scope.name());
  return reshaped(scope, repeated, {shape[0], heads, shape[2], shape[3]});
}

std::vector<Value> translate_attention(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const bool flat = scope.rank(0) == 3;
  const auto operand = [&](size_t index, std::string_view heads) {
    if (flat) return split_heads(scope, scope.input(index), heads_of(scope, heads));
    scope.shape(index, 4);
    return scope.input(index);
  };
  const Value q = operand(0, "q_num_heads");
  const Value k = behind_past(scope, 4, operand(1, "kv_num_heads"));
  const Value v = behind_past(scope, 5, operand(2, "kv_num_heads"));
  const int64_t heads = graph.shape(q)[1], keys = graph.shape(k)[2];
  Masks masks{scope, graph.shape(q)[2], keys};
  if (scope.has(3)) {
    Value mask = scope.input(3);
    if (scope.rank(3) == 0) throw InvalidInput("its mask has no axes");
    const int64_t length = graph.shape(mask).back();
    if (length < keys) {  // opset 24: a mask may be shorter, what it leaves out is hidden
      std::vector<int64_t> none(graph.shape(mask).size(), 0), after = none;
      after.back() = keys - length;
      const bool truth = scope.dtype(3) == DType::kInt64;
      mask = pad(graph, mask, none, after, PadMode::kConstant, truth ? 0 : kMinusInfinity,
                 scope.name());
    }
    scope.dtype(3) == DType::kInt64 ? masks.add_kept(mask, kMinusInfinity) : masks.add(mask);
  }
  if (scope.has(6)) masks.add_lengths(scope.input(6), kMinusInfinity);
  // Opset 25: the last query stands at the last key that is there.
  const int64_t past = scope.has(4) ? scope.shape(4, 4)[2] : 0;
  Value offset = scope.constant(Tensor::of<int64_t>({1}, {past}));
  if (scope.has(6) && !scope.has(4)) {
    const Value queries = scope.constant(Tensor::of<int64_t>({1}, {graph.shape(q)[2]}));
    offset = binary(graph, scope.input(6), queries, BinaryFunction::kSubtract, scope.name());
  }
  if (scope.integer("is_causal", 0) != 0) masks.add_window(offset, -1, 0);
  masks.add_window(offset, scope.integer("left_window_size", -1),
                   scope.integer("right_window_size", -1));
  const Attended attended =
      attend(scope, {q, repeated_heads(scope, k, heads), repeated_heads(scope, v, heads)}, masks,
             scope.real("scale", 0), scope.real("softcap", 0));
  Value shown;
  if (wants_output(scope, 3)) {
    switch (scope.integer("qk_matmul_output_mode", 0)) {
      case 0:
        shown = scaled(scope, attended.scores, attended.scale);
        break;
      case 1:
        shown = attended.capped;
        break;
      case 2:
        shown = attended.masked;
        break;
      default:
        shown = attended.map;
    }
  }
  const Value y = flat ? merge_heads(scope, attended.context) : attended.context;
  return {y, k, v, shown};
}

// ---- EmbedLayerNormalization
// ----------------------------------------------------------------------

std::vector<Value> translate_embed_layer_norm(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const Shape ids = scope.shape(0, 2);
  const auto rows = [&](Value index, size_t table) {
    const Tensor* known = scope.known(table);
    if (known != nullptr && graph.known(index) == nullptr) {
      return embedding(graph, index, *known, scope.name());
    }
    return gather(graph, scope.input(table), index, 0, scope.name());
  };
  Value sum = rows(scope.input(0), 2);
  Value positions;
  if (scope.has(8)) {
    positions = scope.input(8);
  } else {
    positions = scope.constant(counted(ids[1]).reshape({1, ids[1]}));
  }
  sum = add(graph, sum, rows(positions, 3), scope.name());
  if (scope.has(1) && scope.has(4)) sum = add(graph, sum, rows(scope.input(1), 4), scope.name());
  const Value y =
      layer_normalised(scope, sum, scope.input(5), scope.input(6), scope.real("epsilon", 1e-12));
  Value lengths = scope.constant(filled(ids[0], 0, DType::kInt64));
  if (scope.has(7)) {
    lengths = reduce(graph, scope.input(7), Reduction::kSum, {1}, false, scope.name());
  }
  scope.set_element(lengths, ElementType::kInt32);
  return {y, lengths, sum};
}

// ---- RotaryEmbedding
// ------------------------------------------------------------------------------

// Pairs of numbers turned by angles whose cosines and sines are [batch, 1, tokens, width / 2].
Value rotated(NodeScope& scope, Value x, Value cosines, Value sines, bool interleaved) {
  GraphBuilder& graph = scope.graph();
  const Shape shape = graph.shape(x);
  const int64_t half = shape[3] / 2;
  const auto part = [&](int64_t which) {
    return interleaved ? strided_slice(graph, x, 3, which, 2, half, scope.name())
                       : slice(graph, x, 3, which * half, half, scope.name());
  };
  const auto times = [&](Value a, Value b) {
    return binary(graph, a, b, BinaryFunction::kMultiply, scope.name());
  };
  const Value first = part(0), second = part(1);
  const Value real = binary(graph, times(first, cosines), times(second, sines),
                            BinaryFunction::kSubtract, scope.name());
  const Value imaginary = add(graph, times(first, sines), times(second, cosines), scope.name());
  if (!interleaved) return concat(graph, real, imaginary, 3, scope.name());
  const auto column = [&](Value v) {
    return reshaped(scope, v, {shape[0], shape[1], shape[2], half, 1});
  };
  return reshaped(scope, concat(graph, column(real), column(imaginary), 4, scope.name()), shape);
}

struct RotaryInputs {
  size_t cosines, sines, positions;
};

std::vector<Value> rotary(NodeScope& scope, const RotaryInputs& at, bool offset_positions) {
  GraphBuilder& graph = scope.graph();
  Value x = scope.input(0);
  const bool flat = scope.rank(0) == 3;
  if (!flat) scope.shape(0, 4);
  if (flat) {
    int64_t heads = scope.integer("num_heads", 0);
    if (heads <= 0) {
      const Shape& angles = scope.shape(at.cosines);
      const int64_t width = angles.empty() ? 0 : 2 * angles.back();
      heads = width == 0 ? 0 : scope.shape(0)[2] / width;
    }
    x = split_heads(scope, x, std::max<int64_t>(heads, 1));
  }
  const Shape shape = graph.shape(x);
  int64_t turned = scope.integer("rotary_embedding_dim", 0);
  if (turned <= 0) turned = shape[3];
  const auto angles = [&](size_t table) {
    Value values = scope.input(table);
    if (scope.has(at.positions)) {
      Value positions = scope.input(at.positions);
      if (offset_positions && element_count(graph.shape(positions)) == 1) {
        const Value steps = scope.constant(counted(shape[2]).reshape({1, shape[2]}));
        positions = add(graph, steps, reshaped(scope, positions, {1, 1}), scope.name());
      }
      values = gather(graph, values, positions, 0, scope.name());
    }
    const Shape known = graph.shape(values);
    if (known.size() != 3 || known[2] < turned / 2) scope.fail("has angles of an unknown shape");
    if (known[2] > turned / 2) values = slice(graph, values, 2, 0, turned / 2, scope.name());
    return reshaped(scope, values, {known[0], 1, known[1], turned / 2});
  };
  const bool interleaved = scope.integer("interleaved", 0) != 0;
  Value head = turned == shape[3] ? x : slice(graph, x, 3, 0, turned, scope.name());
  Value y = rotated(scope, head, angles(at.cosines), angles(at.sines), interleaved);
  if (turned != shape[3]) {
    const Value rest = slice(graph, x, 3, turned, shape[3] - turned, scope.name());
    y = concat(graph, y, rest, 3, scope.name());
  }
  return {flat ? merge_heads(scope, y) : y};
}

std::vector<Value> translate_rotary(NodeScope& scope) { return rotary(scope, {1, 2, 3}, false); }
std::vector<Value> translate_microsoft_rotary(NodeScope& scope) {
  return rotary(scope, {2, 3, 1}, true);
}

constexpr OnnxOperator kOperators[] = {
    {"", "Attention", translate_attention},
    {"", "RotaryEmbedding", translate_rotary},
    {kMicrosoft, "Attention", translate_packed_attention},
    {kMicrosoft, "MultiHeadAttention", translate_multi_head_attention},
    {kMicrosoft, "EmbedLayerNormalization", translate_embed_layer_norm},
    {kMicrosoft, "RotaryEmbedding", translate_microsoft_rotary},
};

}  // namespace

std::span<const OnnxOperator> attention_operators() { return kOperators; }

}  // namespace whyformer::onnx
