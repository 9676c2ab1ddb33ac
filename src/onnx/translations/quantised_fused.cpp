// Quantised operators of com.microsoft: most are dequantised, computed and quantised again.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "onnx/operators.h"
#include "onnx/translations/attention_parts.h"
#include "onnx/translations/parts.h"
#include "onnx/translations/quantised_parts.h"
#include "onnx/translations/windows.h"
#include "ops/arithmetic.h"
#include "ops/gathering.h"
#include "ops/ops.h"
#include "ops/quantised.h"

namespace whyformer::onnx {
namespace {

// The sum is of floats, though the node's first input is of whole numbers.
Value with_bias(NodeScope& scope, Value x, size_t bias) {
  if (!scope.has(bias)) return x;
  const Value sum = add(scope.graph(), x, scope.input(bias), scope.name());
  scope.set_element(sum, ElementType::kFloat);
  return sum;
}

// (a - a_zero)·(b - b_zero) · a_scale · b_scale.
Value float_product(NodeScope& scope, Value a, Value a_scale, Value a_zero, size_t b,
                    size_t b_scale, size_t b_zero) {
  const Value sums = integer_product(scope, a, a_zero, b, optional_floats(scope, b_zero));
  const Value factor = multiplied(scope, row_scale(scope, a_scale), scope.input(b_scale));
  const int columns = static_cast<int>(scope.graph().shape(sums).size()) - 1;
  const Value y = dequantise(scope.graph(), sums, factor, Value{}, columns, scope.name());
  scope.set_element(y, ElementType::kFloat);
  return y;
}

std::vector<Value> translate_gemm(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  Value a = scope.input(0);
  if (scope.integer("transA", 0) != 0) a = transpose(graph, a, {1, 0}, scope.name());
  const bool turned = scope.integer("transB", 0) != 0;
  Value sums = integer_product(scope, a, optional_floats(scope, 2), 3, optional_floats(scope, 5),
                               turned ? StoredAs::kColumns : StoredAs::kRows);
  if (scope.has(6)) sums = add(graph, sums, as_floats(scope, scope.input(6)), scope.name());
  Value factor = multiplied(scope, scope.input(1), scope.input(4));
  factor = scaled(scope, factor, scope.real("alpha", 1));
  if (scope.has(7)) return {requantised(scope, sums, divided(scope, factor, scope.input(7)), 1, 8)};
  const Value y = dequantise(graph, sums, factor, Value{}, 1, scope.name());
  scope.set_element(y, ElementType::kFloat);
  return {y};
}

std::vector<Value> translate_sum(NodeScope& scope) {
  const Value a = dequantised_input(scope, 0, 1, 2, 0), b = dequantised_input(scope, 3, 4, 5, 0);
  return {quantised_output(scope, add(scope.graph(), a, b, scope.name()), 6, 7)};
}

std::vector<Value> translate_product(NodeScope& scope) {
  const Value a = dequantised_input(scope, 0, 1, 2, 0), b = dequantised_input(scope, 3, 4, 5, 0);
  return {quantised_output(scope, multiplied(scope, a, b), 6, 7)};
}

std::vector<Value> translate_sigmoid(NodeScope& scope) {
  const Value x = dequantised_input(scope, 0, 1, 2, 0);
  return {quantised_output(scope, activated(scope, x, "Sigmoid"), 3, 4)};
}

std::vector<Value> translate_leaky_relu(NodeScope& scope) {
  const Value x = dequantised_input(scope, 0, 1, 2, 0);
  const Value y = leaky_relu(scope.graph(), x, scope.real("alpha", 0.01), scope.name());
  return {quantised_output(scope, y, 3, 4)};
}

// Before opset 13 (of ONNX, as the attribute says) over all axes from `axis` on.
std::vector<Value> translate_softmax(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const Shape shape = scope.shape(0);
  const int rank = scope.rank(0), axis = scope.axis(scope.integer("axis", -1), rank);
  const Value x = dequantised_input(scope, 0, 1, 2, 0);
  if (scope.integer("opset", 13) < 13) {
    const int64_t columns = element_count({shape.begin() + axis, shape.end()});
    const Value rows =
        reshaped(scope, x, {columns == 0 ? 0 : element_count(shape) / columns, columns});
    const Value p = softmax(graph, rows, Value{}, 1, scope.name());
    return {quantised_output(scope, reshaped(scope, p, shape), 3, 4)};
  }
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis], order[rank - 1]);
  const Value p = softmax(graph, permuted(scope, x, order), Value{}, 1, scope.name());
  return {quantised_output(scope, permuted(scope, p, order), 3, 4)};
}

std::vector<Value> translate_concat(NodeScope& scope) {
  if (scope.count() < 5 || (scope.count() - 2) % 3 != 0) {
    throw InvalidInput(fmt::format("{} inputs are no tensors with scale and zero", scope.count()));
  }
  const int axis = scope.axis(scope.integer("axis", 0), scope.rank(2));
  Value joined = dequantised_input(scope, 2, 3, 4, 0);
  for (size_t index = 5; index < scope.count(); index += 3) {
    const Value next = dequantised_input(scope, index, index + 1, index + 2, 0);
    joined = concat(scope.graph(), joined, next, axis, scope.name());
  }
  return {quantised_output(scope, joined, 0, 1)};
}

// [batch, space…, channels] with the channels in front, if the node has them last; or back.
Value channels_first(NodeScope& scope, Value x, bool back) {
  if (scope.integer("channels_last", 0) == 0) return x;
  const int rank = static_cast<int>(scope.graph().shape(x).size());
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (rank < 3) return x;
  if (back)
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  else
    std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return permuted(scope, x, order);
}

std::vector<Value> translate_average_pool(NodeScope& scope) {
  const Value x = channels_first(scope, dequantised_input(scope, 0, 1, 2, 0), false);
  const Value y = average_pool(scope.graph(), x, pooling_window(scope, scope.graph().shape(x)),
                               scope.integer("count_include_pad", 0) != 0, scope.name());
  return {quantised_output(scope, channels_first(scope, y, true), 3, 4)};
}

std::vector<Value> translate_global_average_pool(NodeScope& scope) {
  const Value x = channels_first(scope, dequantised_input(scope, 0, 1, 2, 0), false);
  std::vector<int> axes(std::max(scope.rank(0) - 2, 0));
  std::iota(axes.begin(), axes.end(), 2);
  const Value y =
      axes.empty() ? x : reduce(scope.graph(), x, Reduction::kMean, axes, true, scope.name());
  return {quantised_output(scope, channels_first(scope, y, true), 3, 4)};
}

std::vector<Value> translate_dynamic_matmul(NodeScope& scope) {
  const std::vector<Value> a = quantise_dynamically(scope.graph(), scope.input(0), scope.name());
  return {with_bias(scope, float_product(scope, a[0], a[1], a[2], 1, 2, 3), 4)};
}

std::vector<Value> translate_matmul_to_float(NodeScope& scope) {
  const Value y =
      float_product(scope, scope.input(0), scope.input(2), optional_floats(scope, 4), 1, 3, 5);
  return {with_bias(scope, y, 6)};
}

// Weights [columns, blocks, bytes] with a scale, and perhaps a zero, per block; numbers of less
// than 8 bits share bytes, the first in the lowest bits.
struct PackedWeights {
  std::vector<double> scales, zeros, bytes;
  int64_t depth, columns, bits, block;
  bool zeros_packed;

  int64_t blocks() const { return (depth + block - 1) / block; }
  int64_t block_bytes() const { return block * bits / 8; }
  int64_t zero_bytes() const { return (blocks() * bits + 7) / 8; }

  Tensor dequantised(DType type) const {
    check_sizes();
    Tensor weight = Tensor::empty({columns, depth}, type);
    if (type == DType::kFloat64)
      write(weight.mutable_data<double>());
    else
      write(weight.mutable_data<float>());
    return weight;
  }

 private:
  template <typename T>
  void write(T* out) const {
    parallel_for(columns, 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        for (int64_t k = 0; k < depth; ++k) {
          const int64_t at = row * blocks() + k / block;
          const double whole = number(bytes, at * block_bytes(), k % block);
          out[row * depth + k] = static_cast<T>((whole - zero_of(row, k / block)) * scales[at]);
        }
      }
    });
  }

  void check_sizes() const {
    const int64_t zero_count = zeros_packed ? columns * zero_bytes() : columns * blocks();
    if (std::ssize(bytes) != columns * blocks() * block_bytes() ||
        std::ssize(scales) != columns * blocks() ||
        (!zeros.empty() && std::ssize(zeros) != zero_count)) {
      throw InvalidInput(
          fmt::format("{} bytes, {} scales and {} zeros are not those of {} x {} weights",
                      bytes.size(), scales.size(), zeros.size(), columns, depth));
    }
  }

  double number(const std::vector<double>& from, int64_t start, int64_t index) const {
    const auto byte = static_cast<unsigned>(from[start + index * bits / 8]);
    return bits == 8 ? byte : byte >> (index * bits % 8) & ((1u << bits) - 1);
  }

  double zero_of(int64_t row, int64_t at) const {
    if (zeros.empty()) return static_cast<double>(int64_t{1} << (bits - 1));
    return zeros_packed ? number(zeros, row * zero_bytes(), at) : zeros[row * blocks() + at];
  }
};

// Dequantised once, a Linear.
std::vector<Value> translate_matmul_of_bits(NodeScope& scope) {
  const int64_t depth = scope.integer("K", 0), columns = scope.integer("N", 0);
  const int64_t bits = scope.integer("bits", 4), block = scope.integer("block_size", 0);
  if ((bits != 2 && bits != 4 && bits != 8) || block < 16 || block > 1 << 20 || depth < 1 ||
      depth > int64_t{1} << 31 || columns < 1 || columns > int64_t{1} << 31 ||
      scope.element(1) != ElementType::kUint8) {
    scope.fail(fmt::format("has weights of {} bits in blocks of {}", bits, block));
  }
  if (scope.has(4)) scope.fail("groups its weights by an index, which cannot be imported");
  const Tensor* bias = scope.has(5) ? scope.known(5) : nullptr;
  std::vector<Tensor> from{scope.needed(1), scope.needed(2)};
  if (scope.has(3)) from.push_back(scope.needed(3));
  if (bias != nullptr) from.push_back(*bias);
  const bool packed = scope.has(3) && scope.element(3) == ElementType::kUint8;
  const auto weights = scope.made_once<LinearWeights>(from, [&] {
    const PackedWeights stored{from[1].to_doubles(),
                               scope.has(3) ? from[2].to_doubles() : std::vector<double>{},
                               from[0].to_doubles(),
                               depth,
                               columns,
                               bits,
                               block,
                               packed};
    return std::make_shared<const LinearWeights>(stored.dequantised(scope.floats()),
                                                 bias != nullptr ? *bias : Tensor());
  });
  const Value y = linear(scope.graph(), scope.input(0), weights, scope.name());
  return {bias != nullptr ? y : with_bias(scope, y, 5)};
}

// Attention of a quantised input and packed projection; from there on in floats.
std::vector<Value> translate_attention(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const int64_t heads = scope.integer("num_heads", 0);
  if (heads < 1 || scope.shape(1).size() != 2 || heads > scope.shape(1)[1] ||
      scope.shape(1)[1] % (3 * heads) != 0) {
    scope.fail(fmt::format("has {} heads for weights {}", heads, to_string(scope.shape(1))));
  }
  if (scope.integer("do_rotary", 0) != 0) scope.fail("turns its keys, which is not supported here");
  const int64_t width = scope.shape(1)[1] / 3;
  const Value packed = with_bias(
      scope,
      float_product(scope, scope.input(0), scope.input(3), optional_floats(scope, 6), 1, 4, 7), 2);
  const auto operand = [&](int64_t part) {
    return split_heads(scope, slice(graph, packed, 2, part * width, width, scope.name()), heads);
  };
  Value k = operand(1), v = operand(2);
  if (scope.has(8) && scope.shape(8, 5)[3] > 0) {
    const auto past = [&](int64_t part) {
      Shape shape = scope.shape(8);
      shape.erase(shape.begin());
      return reshaped(scope, slice(graph, scope.input(8), 0, part, 1, scope.name()), shape);
    };
    k = concat(graph, past(0), k, 2, scope.name());
    v = concat(graph, past(1), v, 2, scope.name());
  }
  const Value q = operand(0);
  Masks masks{scope, graph.shape(q)[2], graph.shape(k)[2]};
  if (scope.has(5)) {
    masks.add_microsoft(scope.input(5), graph.shape(q)[0], scope.real("mask_filter_value", -10000));
  }
  if (scope.integer("unidirectional", 0) != 0) masks.add_causal();
  std::vector<Value> outputs{
      merge_heads(scope, attend(scope, {q, k, v}, masks, scope.real("scale", 0)).context)};
  if (scope.node().outputs.size() > 1 && !scope.node().outputs[1].empty()) {
    const auto stacked = [&](Value x) {
      Shape shape = graph.shape(x);
      shape.insert(shape.begin(), 1);
      return reshaped(scope, x, shape);
    };
    outputs.push_back(concat(graph, stacked(k), stacked(v), 0, scope.name()));
  }
  for (const Value output : outputs) scope.set_element(output, ElementType::kFloat);
  return outputs;
}

// Tables, scale and shift are quantised: known ones are dequantised once.
std::vector<Value> translate_embed_layer_norm(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const Shape ids = scope.shape(0);
  if (ids.size() != 2) throw InvalidInput("ids of shape " + to_string(ids));
  const auto rows = [&](Value index, size_t table) {
    const Value numbers = dequantised_input(scope, table, table + 6, table + 11, 0);
    const Tensor* known = graph.known(numbers);
    return known != nullptr && graph.known(index) == nullptr
               ? embedding(graph, index, *known, scope.name())
               : gather(graph, numbers, index, 0, scope.name());
  };
  const Value positions = scope.constant(counted(ids[1]).reshape({1, ids[1]}));
  Value sum = add(graph, rows(scope.input(0), 2), rows(positions, 3), scope.name());
  if (scope.has(1) && scope.has(4)) sum = add(graph, sum, rows(scope.input(1), 4), scope.name());
  const Value y =
      layer_normalised(scope, sum, dequantised_input(scope, 5, 11, 16, 0),
                       dequantised_input(scope, 6, 12, 17, 0), scope.real("epsilon", 1e-12));
  Value lengths = scope.constant(filled(ids[0], 0, DType::kInt64));
  if (scope.has(7)) {
    lengths = reduce(graph, scope.input(7), Reduction::kSum, {1}, false, scope.name());
  }
  scope.set_element(lengths, ElementType::kInt32);
  scope.set_element(y, ElementType::kFloat);
  return {y, lengths};
}

constexpr OnnxOperator kOperators[] = {
    {kMicrosoft, "QGemm", translate_gemm},
    {kMicrosoft, "QLinearAdd", translate_sum},
    {kMicrosoft, "QLinearMul", translate_product},
    {kMicrosoft, "QLinearSigmoid", translate_sigmoid},
    {kMicrosoft, "QLinearLeakyRelu", translate_leaky_relu},
    {kMicrosoft, "QLinearSoftmax", translate_softmax},
    {kMicrosoft, "QLinearConcat", translate_concat},
    {kMicrosoft, "QLinearAveragePool", translate_average_pool},
    {kMicrosoft, "QLinearGlobalAveragePool", translate_global_average_pool},
    {kMicrosoft, "DynamicQuantizeMatMul", translate_dynamic_matmul},
    {kMicrosoft, "MatMulIntegerToFloat", translate_matmul_to_float},
    {kMicrosoft, "MatMulNBits", translate_matmul_of_bits},
    {kMicrosoft, "QAttention", translate_attention},
    {kMicrosoft, "QEmbedLayerNormalization", translate_embed_layer_norm},
};

}  // namespace

std::span<const OnnxOperator> fused_quantised_operators() { return kOperators; }

}  // namespace whyformer::onnx
