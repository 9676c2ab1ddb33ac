// Convolutions, pooling, sampling and normalisation of grids [batch, channels, space…].
#include "ops/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "onnx/operators.h"
#include "onnx/translations/parts.h"
#include "onnx/translations/resizing.h"
#include "onnx/translations/windows.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

std::vector<Value> translate_convolution(NodeScope& scope) {
  const Shape weight_shape = scope.shape(1);
  if (weight_shape.size() < 3) {
    throw InvalidInput(fmt::format("weights of shape {}", to_string(weight_shape)));
  }
  const Window window =
      window_of(scope, scope.shape(0), {weight_shape.begin() + 2, weight_shape.end()});
  const Tensor* weight = scope.known(1);
  const Tensor* bias = scope.has(2) ? scope.known(2) : nullptr;
  GraphBuilder& graph = scope.graph();
  if (weight == nullptr || (scope.has(2) && bias == nullptr)) {
    return {convolution(graph, scope.input(0), scope.input(1),
                        scope.has(2) ? scope.input(2) : Value{}, window, scope.name())};
  }
  if (weight->dtype() == DType::kInt64) scope.fail("has weights that are whole numbers");
  const Tensor addend = bias != nullptr ? *bias : Tensor();
  if (window.groups != 1) {
    return {convolution(graph, scope.input(0), *weight, addend, window, scope.name())};
  }
  const int64_t depth = element_count({weight_shape.begin() + 1, weight_shape.end()});
  const auto rows = scope.linear_weights(weight->reshape({weight_shape[0], depth}), true, addend);
  return {convolution(graph, scope.input(0), rows, window, scope.name())};
}

// com.microsoft FusedConv: a Conv, a sum and an activation.
std::vector<Value> translate_fused_convolution(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  Value result = translate_convolution(scope)[0];
  if (scope.has(3)) result = add(graph, result, scope.input(3), scope.name());
  const std::string function = scope.text("activation", "");
  const std::vector<double> numbers = scope.real_list("activation_params");
  if (function == "LeakyRelu") {
    return {leaky_relu(graph, result, numbers.empty() ? 0.01 : numbers[0], scope.name())};
  }
  if (function == "HardSigmoid") {
    return {hard_sigmoid(graph, result, numbers.empty() ? 0.2 : numbers[0],
                         numbers.size() < 2 ? 0.5 : numbers[1], scope.name())};
  }
  if (function == "Clip" && numbers.size() == 2) {
    const DType dtype = graph.type(result).dtype;
    result = binary(graph, result, scope.number_constant(numbers[0], dtype),
                    BinaryFunction::kMaximum, scope.name());
    return {binary(graph, result, scope.number_constant(numbers[1], dtype),
                   BinaryFunction::kMinimum, scope.name())};
  }
  return {activated(scope, result, function)};
}

std::vector<Value> translate_transposed_convolution(NodeScope& scope) {
  const Shape input = scope.shape(0);
  const Tensor weight = scope.needed(1);
  const Tensor bias = scope.has(2) ? scope.needed(2) : Tensor();
  if (weight.rank() < 3) {
    throw InvalidInput(fmt::format("weights of shape {}", to_string(weight.shape())));
  }
  Window window = window_of(scope, input, {weight.shape().begin() + 2, weight.shape().end()});
  const size_t axes = window.kernel.size();
  std::vector<int64_t> output_pads = scope.integer_list("output_padding");
  if (output_pads.empty()) output_pads.assign(axes, 0);
  std::vector<int64_t> lengths = scope.integer_list("output_shape");
  const std::string automatic = scope.text("auto_pad", "NOTSET");
  const bool same = automatic.starts_with("SAME");
  if (lengths.size() == axes + 2) lengths.erase(lengths.begin(), lengths.begin() + 2);
  if (output_pads.size() != axes || (!lengths.empty() && lengths.size() != axes)) {
    throw InvalidInput(fmt::format("{} output pads and {} lengths for {} space axes",
                                   output_pads.size(), lengths.size(), axes));
  }
  for (const int64_t number : lengths) check_length(number, "output_shape");
  for (const int64_t number : output_pads) check_length(number, "output_padding");
  for (size_t i = 0; i < axes; ++i) check_length(input[i + 2], "the input's shape");
  for (size_t i = 0; i < axes && (same || !lengths.empty()); ++i) {
    const int64_t length = lengths.empty() ? input[i + 2] * window.strides[i] : lengths[i];
    const int64_t total = window.strides[i] * (input[i + 2] - 1) + output_pads[i] +
                          (window.kernel[i] - 1) * window.dilations[i] + 1 - length;
    const int64_t cut = std::max<int64_t>(total, 0);
    output_pads[i] += std::max<int64_t>(-total, 0);
    window.pads_before[i] = automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    window.pads_after[i] = cut - window.pads_before[i];
  }
  return {transposed_convolution(scope.graph(), scope.input(0), weight, bias, window, output_pads,
                                 scope.name())};
}

std::vector<Value> translate_max_pool(NodeScope& scope) {
  if (scope.node().outputs.size() > 1 && !scope.node().outputs[1].empty()) {
    scope.fail("gives the indices of the largest elements, which cannot be imported");
  }
  return {
      max_pool(scope.graph(), scope.input(0), pooling_window(scope, scope.shape(0)), scope.name())};
}

std::vector<Value> translate_average_pool(NodeScope& scope) {
  return {average_pool(scope.graph(), scope.input(0), pooling_window(scope, scope.shape(0)),
                       scope.integer("count_include_pad", 0) != 0, scope.name())};
}

template <Reduction kFunction>
std::vector<Value> translate_global_pool(NodeScope& scope) {
  std::vector<int> axes(std::max(scope.rank(0) - 2, 0));
  std::iota(axes.begin(), axes.end(), 2);
  if (axes.empty()) return {scope.input(0)};
  return {reduce(scope.graph(), scope.input(0), kFunction, axes, true, scope.name())};
}

std::vector<Value> translate_grid_sample(NodeScope& scope) {
  if (scope.rank(0) != 4) {
    scope.fail(fmt::format("samples an input of shape {}; only images can be imported",
                           to_string(scope.shape(0))));
  }
  const std::string mode = scope.text("mode", "linear");
  const std::string padding = scope.text("padding_mode", "zeros");
  ResizeMode chosen = ResizeMode::kLinear;
  if (mode == "nearest")
    chosen = ResizeMode::kNearest;
  else if (mode == "cubic" || mode == "bicubic")
    chosen = ResizeMode::kCubic;
  else if (mode != "linear" && mode != "bilinear")
    scope.fail(fmt::format("samples in mode '{}'", mode));
  GridPadding outside = GridPadding::kZeros;
  if (padding == "border")
    outside = GridPadding::kBorder;
  else if (padding == "reflection")
    outside = GridPadding::kReflection;
  else if (padding != "zeros")
    scope.fail(fmt::format("pads in mode '{}'", padding));
  return {grid_sample(scope.graph(), scope.input(0), scope.input(1), chosen, outside,
                      scope.integer("align_corners", 0) != 0, scope.name())};
}

// One number per channel, for an input of that rank.
Value per_channel(NodeScope& scope, Value numbers, int rank) {
  Shape shape(std::max(rank - 1, 1), 1);
  shape[0] = element_count(scope.graph().shape(numbers));
  return reshaped(scope, numbers, shape);
}

Value scaled_and_shifted(NodeScope& scope, Value x, Value scale, Value shift) {
  GraphBuilder& graph = scope.graph();
  x = binary(graph, x, scale, BinaryFunction::kMultiply, scope.name());
  return add(graph, x, shift, scope.name());
}

// With known statistics a scale and a shift per channel.
std::vector<Value> translate_batch_norm(NodeScope& scope) {
  if (scope.integer("training_mode", 0) != 0) scope.fail("takes its statistics from the batch");
  const std::vector<double> weight = scope.needed(1).to_doubles(),
                            bias = scope.needed(2).to_doubles();
  const std::vector<double> mean = scope.needed(3).to_doubles(),
                            variance = scope.needed(4).to_doubles();
  const size_t channels = weight.size();
  if (bias.size() != channels || mean.size() != channels || variance.size() != channels ||
      scope.rank(0) < 2 || scope.shape(0)[1] != static_cast<int64_t>(channels)) {
    throw InvalidInput(fmt::format("{} scales, {} means and {} variances for an input {}", channels,
                                   mean.size(), variance.size(), to_string(scope.shape(0))));
  }
  const double epsilon = scope.real("epsilon", 1e-5);
  std::vector<double> scale, shift;
  for (size_t c = 0; c < channels; ++c) {
    scale.push_back(weight[c] / std::sqrt(variance[c] + epsilon));
    shift.push_back(bias[c] - mean[c] * scale[c]);
  }
  const auto constant = [&](const std::vector<double>& numbers) {
    const Tensor tensor = Tensor::of<double>({static_cast<int64_t>(channels)}, numbers);
    return per_channel(scope, scope.constant(tensor.cast(scope.floats())), scope.rank(0));
  };
  return {scaled_and_shifted(scope, scope.input(0), constant(scale), constant(shift))};
}

// (x - mean) / deviation over everything but the batch and `groups` of channels.
Value normalised_in_groups(NodeScope& scope, int64_t groups) {
  const Shape shape = scope.shape(0);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0) {
    throw InvalidInput(
        fmt::format("an input {} has no {} groups of channels", to_string(shape), groups));
  }
  const int64_t rest = element_count({shape.begin() + 1, shape.end()}) / groups;
  const Value rows = reshaped(scope, scope.input(0), {shape[0], groups, rest});
  return layer_norm(scope.graph(), rows,
                    {filled(rest, 1, scope.floats()), filled(rest, 0, scope.floats()),
                     scope.real("epsilon", 1e-5)},
                    scope.name());
}

std::vector<Value> translate_instance_norm(NodeScope& scope) {
  const Shape shape = scope.shape(0);
  const Value rows = normalised_in_groups(scope, shape.size() < 2 ? 1 : shape[1]);
  const int rank = scope.rank(0);
  return {scaled_and_shifted(scope, reshaped(scope, rows, shape),
                             per_channel(scope, scope.input(1), rank),
                             per_channel(scope, scope.input(2), rank))};
}

// Opset 18 has a scale per group, opset 21 one per channel.
std::vector<Value> translate_group_norm(NodeScope& scope) {
  const Shape shape = scope.shape(0);
  const int64_t groups = scope.integer("num_groups", 1);
  const Value rows = normalised_in_groups(scope, groups);
  if (scope.opset() < 21) {
    const Value result = scaled_and_shifted(scope, rows, per_channel(scope, scope.input(1), 3),
                                            per_channel(scope, scope.input(2), 3));
    return {reshaped(scope, result, shape)};
  }
  const int rank = scope.rank(0);
  return {scaled_and_shifted(scope, reshaped(scope, rows, shape),
                             per_channel(scope, scope.input(1), rank),
                             per_channel(scope, scope.input(2), rank))};
}

std::vector<Value> translate_lp_norm(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const int rank = scope.rank(0), axis = scope.axis(scope.integer("axis", -1), rank);
  if (scope.integer("p", 2) == 1) {
    const Value norm = reduce(graph, scope.input(0), Reduction::kL1, {axis}, true, scope.name());
    return {binary(graph, scope.input(0), norm, BinaryFunction::kDivide, scope.name())};
  }
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis], order[rank - 1]);
  const Value turned = permuted(scope, scope.input(0), order);
  return {permuted(scope, l2_normalise(graph, turned, scope.name()), order)};
}

constexpr OnnxOperator kOperators[] = {
    {"", "Conv", translate_convolution},
    {"", "ConvTranspose", translate_transposed_convolution},
    {"", "MaxPool", translate_max_pool},
    {"", "AveragePool", translate_average_pool},
    {"", "GlobalAveragePool", translate_global_pool<Reduction::kMean>},
    {"", "GlobalMaxPool", translate_global_pool<Reduction::kMax>},
    {"", "Resize", translate_resize},
    {"", "Upsample", translate_upsample},
    {"", "GridSample", translate_grid_sample},
    {"", "BatchNormalization", translate_batch_norm},
    {"", "InstanceNormalization", translate_instance_norm},
    {"", "GroupNormalization", translate_group_norm},
    {"", "LpNormalization", translate_lp_norm},
    {kMicrosoft, "FusedConv", translate_fused_convolution},
};

}  // namespace

std::span<const OnnxOperator> picture_operators() { return kOperators; }

}  // namespace whyformer::onnx
