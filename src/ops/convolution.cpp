#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "graph/held_weights.h"
#include "ops/helpers.h"
#include "ops/integer_weights.h"
#include "ops/linear_relevance.h"
#include "ops/pictures.h"
#include "ops/quantised.h"
#include "ops/windows.h"

namespace whyformer {
namespace {

using GroupWeights = std::vector<std::shared_ptr<const LinearWeights>>;
using ExactWeights = std::vector<std::shared_ptr<const IntegerWeights>>;

// One Linear per group, on rows [channels / groups · kernel].
GroupWeights split_groups(const Tensor& weight, const Tensor& bias, int64_t groups) {
  const int64_t features = weight.dim(0) / groups;
  const int64_t depth = element_count({weight.shape().begin() + 1, weight.shape().end()});
  const Tensor rows = weight.reshape({weight.dim(0), depth});
  GroupWeights result;
  for (int64_t g = 0; g < groups; ++g) {
    result.push_back(std::make_shared<LinearWeights>(
        rows.slice(0, g * features, features),
        bias.defined() ? bias.slice(0, g * features, features) : Tensor()));
  }
  return result;
}

void check_weight(const Shape& input, const Shape& weight, const Window& window) {
  if (input.size() < 3 || weight.size() != input.size() || window.groups < 1 ||
      window.groups > std::max<int64_t>(weight[0], 1) || weight[0] % window.groups != 0 ||
      weight[1] * window.groups != input[1] ||
      !std::equal(weight.begin() + 2, weight.end(), window.kernel.begin(), window.kernel.end())) {
    throw InvalidInput(
        fmt::format("an input {} does not fit weights {} with a kernel {} in {} groups",
                    to_string(input), to_string(weight), to_string(window.kernel), window.groups));
  }
}

// Each sample's least and largest pixel, wherever that sample has pixels.
Bounds pixel_bounds(const Tensor& image) {
  Bounds bounds{Tensor::empty(image.shape(), image.dtype()),
                Tensor::empty(image.shape(), image.dtype())};
  for (int64_t sample = 0; sample < image.dim(0); ++sample) {
    const std::vector<double> pixels = image.select(0, sample).to_doubles();
    if (pixels.empty()) break;
    const auto [least, most] = std::minmax_element(pixels.begin(), pixels.end());
    bounds.least.select(0, sample).fill(*least);
    bounds.most.select(0, sample).fill(*most);
  }
  return bounds;
}

// The patches of one group of channels, for as many samples as fit in a few megabytes: a
// convolution is a Linear on them, and what comes back is added up where patches overlap.
struct ImageBlock {
  WindowGrid grid;
  int64_t first_sample, samples;
  int64_t group, groups;

  Tensor samples_of(const Tensor& tensor) const { return tensor.slice(0, first_sample, samples); }
  Tensor patches(const Tensor& input) const {
    const int64_t channels = grid.channels() / groups;
    return grid.patches(samples_of(input), group * channels, channels);
  }
  void fold(const Tensor& rows, Tensor& input) const {
    const int64_t channels = grid.channels() / groups;
    Tensor target = samples_of(input);
    grid.fold(rows, group * channels, channels, target);
  }
  Tensor output_of(const Tensor& output) const {
    const int64_t features = output.dim(1) / groups;
    return samples_of(output).slice(1, group * features, features);
  }
  Tensor rows(const Tensor& output) const { return rows_of_grid(output_of(output)); }
  void put_rows(const Tensor& rows, Tensor& output) const {
    const int64_t features = output.dim(1) / groups;
    Shape shape{samples, grid.positions(), features};
    const Tensor flat = output.reshape({output.dim(0), output.dim(1), grid.positions()});
    output_of(flat).copy_from(rows.reshape(shape).transpose(1, 2));
  }
};

template <typename Use>
void for_each_block(const Shape& input, const Window& window, const Use& use) {
  const WindowGrid whole(input, window);
  constexpr int64_t kElements = int64_t{1} << 23;
  const int64_t each = whole.positions() * whole.kernel_size() * input[1] / window.groups;
  const int64_t most = std::max<int64_t>(1, kElements / std::max<int64_t>(each, 1));
  for (int64_t first = 0; first < input[0]; first += most) {
    Shape shape = input;
    shape[0] = std::min(most, input[0] - first);
    const WindowGrid grid(shape, window);
    parallel_for(window.groups, 1, [&](int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) {
        use(ImageBlock{grid, first, shape[0], group, window.groups});
      }
    });
  }
}

// `apply(group, rows)` multiplies rows of patches.
template <typename Apply>
Tensor convolved(const Tensor& image, int64_t features, const Window& window, const Apply& apply) {
  Tensor y = Tensor::empty(WindowGrid(image.shape(), window).output_shape(features), image.dtype());
  for_each_block(image.shape(), window, [&](const ImageBlock& block) {
    block.put_rows(apply(static_cast<size_t>(block.group), block.patches(image)), y);
  });
  return y;
}

Tensor convolved(const Tensor& image, const GroupWeights& weights, const Window& window) {
  return convolved(image, weights[0]->out_features() * window.groups, window,
                   [&](size_t group, const Tensor& rows) {
                     return weights[group]->apply(rows, Direction::kForward, WeightPart::kAll,
                                                  true);
                   });
}

Tensor input_gradient(const Shape& image, const GroupWeights& weights, const Window& window,
                      const Tensor& dy) {
  Tensor dx = Tensor::zeros(image, dy.dtype());
  for_each_block(image, window, [&](const ImageBlock& block) {
    block.fold(weights[block.group]->apply(block.rows(dy), Direction::kBackward), dx);
  });
  return dx;
}

// y = W * x + bias.
class ConvolutionOp final : public ops::Conv, public HoldsWeights {
 public:
  ConvolutionOp(GroupWeights weights, Window window)
      : weights_(std::move(weights)), window_(std::move(window)) {}
  // Of whole numbers, exactly.
  ConvolutionOp(ExactWeights weights, Window window)
      : exact_(std::move(weights)), window_(std::move(window)) {
    for (const auto& group : exact_) weights_.emplace_back(group, &group->linear());
  }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], {{}, weights_[0]->dtype()});
    const WindowGrid grid(inputs[0].shape, window_);
    const int64_t depth = weights_[0]->in_features(), groups = window_.groups;
    if (grid.channels() * grid.kernel_size() != depth * groups) {
      throw InvalidInput(fmt::format(
          "an input {} does not fit a kernel {} and weights for {} numbers in {} groups",
          to_string(inputs[0].shape), to_string(window_.kernel), depth, groups));
    }
    return {{grid.output_shape(weights_[0]->out_features() * groups), inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    if (exact_.empty()) return {{convolved(inputs[0], weights_, window_)}, {}};
    const int64_t features = weights_[0]->out_features() * window_.groups;
    return {
        {convolved(inputs[0], features, window_,
                   [&](size_t group, const Tensor& rows) { return exact_[group]->apply(rows); })},
        {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    return {input_gradient(call.input_types[0].shape, weights_, window_, dy[0])};
  }

  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted&) const override {
    if (rule.kind == RuleKind::kStop) return {Tensor()};
    const Tensor& image = call.inputs[0];
    const bool boxed = rule.kind == RuleKind::kBox;
    const Bounds bounds = boxed ? pixel_bounds(image) : Bounds{};
    Tensor shares = Tensor::zeros(image.shape(), image.dtype());
    for_each_block(image.shape(), window_, [&](const ImageBlock& block) {
      const Bounds here =
          boxed ? Bounds{block.patches(bounds.least), block.patches(bounds.most)} : Bounds{};
      block.fold(
          linear_relevance(*weights_[block.group], block.patches(image),
                           block.rows(call.outputs[0]), block.rows(relevance[0]), rule, here),
          shares);
    });
    return {shares};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    if (axis != 0) return std::nullopt;
    return same_axis(axis);
  }

  // Rows [channels / groups · kernel] of all groups.
  std::vector<HeldWeight> held_weights() const override {
    if (!exact_.empty()) return {};
    const int64_t features = weights_[0]->out_features() * window_.groups;
    const DType dtype = weights_[0]->dtype();
    std::vector<HeldWeight> held{
        {WeightKind::kMatrix, {features, weights_[0]->in_features()}, dtype}};
    if (weights_[0]->bias().defined()) held.push_back({WeightKind::kBias, {features}, dtype});
    return held;
  }

  std::shared_ptr<const Op> with_weights(const Tensors& weights) const override {
    const Tensor bias = weights.size() > 1 ? weights[1] : Tensor();
    return std::make_shared<ConvolutionOp>(split_groups(weights[0], bias, window_.groups), window_);
  }

  bool follows_shapes() const override { return true; }  // padding

 private:
  GroupWeights weights_;
  ExactWeights exact_;
  Window window_;
};

// The same for a weight that depends on the inputs: a product of two values, like MatMul.
class ConvolutionProductOp final : public ops::ConvProduct {
 public:
  explicit ConvolutionProductOp(Window window) : window_(std::move(window)) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    for (const ValueType& input : inputs) check_same_type(inputs[0], input);
    with_float_type(inputs[0].dtype, [](auto) {});
    check_weight(inputs[0].shape, inputs[1].shape, window_);
    const Shape features{inputs[1].shape[0]};
    if (inputs.size() > 2 && inputs[2].shape != features) {
      throw InvalidInput(
          fmt::format("a bias {} for {} features", to_string(inputs[2].shape), features[0]));
    }
    return {{WindowGrid(inputs[0].shape, window_).output_shape(features[0]), inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor bias = inputs.size() > 2 ? inputs[2] : Tensor();
    return {{convolved(inputs[0], split_groups(inputs[1], bias, window_.groups), window_)}, {}};
  }

  BackwardNeeds backward_needs() const override { return {.inputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    const Tensor &image = call.inputs[0], &weight = call.inputs[1];
    Tensors results(call.inputs.size());
    if (wanted[0]) {
      results[0] =
          input_gradient(image.shape(), split_groups(weight, {}, window_.groups), window_, dy[0]);
    }
    if (wanted[1]) results[1] = weight_gradient(image, weight.shape(), dy[0]);
    if (wanted.size() > 2 && wanted[2]) {
      results[2] = sum_to(rows_of_grid(dy[0]), {1, weight.dim(0)}).reshape({weight.dim(0)});
    }
    return results;
  }

  // Half to each factor, as in MatMul; the bias takes its own block away.
  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted& wanted) const override {
    Rule halves = rule;
    if (rule.kind != RuleKind::kStop) halves.kind = RuleKind::kProportional;
    Tensors shares = Op::relevance(call, relevance, halves, wanted);
    for (size_t i = 0; i < 2; ++i) {
      if (!shares[i].defined() || !wanted[0] || !wanted[1]) continue;
      shares[i] = shares[i].copy();
      with_float_type(shares[i].dtype(), [&](auto zero) {
        using T = decltype(zero);
        T* values = shares[i].mutable_data<T>();
        for (int64_t k = 0; k < shares[i].size(); ++k) values[k] /= 2;
      });
    }
    return shares;
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    if (axis != 0) return std::nullopt;
    std::vector<int> sources(inputs.size(), -1);
    sources[0] = 0;
    return AxisFlow{sources, true};
  }

 private:
  Tensor weight_gradient(const Tensor& image, const Shape& weight, const Tensor& dy) const {
    const int64_t features = weight[0] / window_.groups;
    Tensor dw =
        Tensor::zeros({weight[0], element_count({weight.begin() + 1, weight.end()})}, dy.dtype());
    for_each_block(image.shape(), window_, [&](const ImageBlock& block) {
      const Tensor rows = block.rows(dy), patches = block.patches(image);
      with_float_type(dy.dtype(), [&](auto zero) {
        using T = decltype(zero);
        ProductStack<T> product;
        product.a = {rows.data<T>(), features, rows.dim(0), 1, features};
        product.b = {patches.data<T>(), rows.dim(0), dw.dim(1), dw.dim(1), 1};
        product.c = {dw.mutable_data<T>() + block.group * features * dw.dim(1), features, dw.dim(1),
                     dw.dim(1), 1};
        product.accumulate = true;
        multiply_stack(product);
      });
    });
    return dw.reshape(weight);
  }

  Window window_;
};

void check_constants(const Shape& input, const Tensor& weight, const Tensor& bias,
                     const Window& window, const std::string& name) {
  try {
    check_weight(input, weight.shape(), window);
    if (bias.defined() && bias.shape() != Shape{weight.dim(0)}) {
      throw InvalidInput(fmt::format("a bias {} for weights {}", to_string(bias.shape()),
                                     to_string(weight.shape())));
    }
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("Conv '{}': {}", name, error.what()));
  }
}

}  // namespace

Value convolution(GraphBuilder& graph, Value x, Tensor weight, Tensor bias, Window window,
                  std::string name) {
  check_constants(graph.shape(x), weight, bias, window, name);
  GroupWeights weights = split_groups(weight, bias, window.groups);
  return graph.add(std::make_shared<ConvolutionOp>(std::move(weights), std::move(window)), {x},
                   std::move(name));
}

Value convolution(GraphBuilder& graph, Value x, std::shared_ptr<const LinearWeights> weights,
                  Window window, std::string name) {
  return graph.add(
      std::make_shared<ConvolutionOp>(GroupWeights{std::move(weights)}, std::move(window)), {x},
      std::move(name));
}

Value integer_convolution(GraphBuilder& graph, Value x, Tensor weight, Window window,
                          std::string name) {
  check_constants(graph.shape(x), weight, {}, window, name);
  ExactWeights weights;
  for (const auto& group : split_groups(weight, {}, window.groups)) {
    weights.push_back(std::make_shared<IntegerWeights>(group->weight()));
  }
  return graph.add(std::make_shared<ConvolutionOp>(std::move(weights), std::move(window)), {x},
                   std::move(name));
}

Value convolution(GraphBuilder& graph, Value x, Value weight, Value bias, Window window,
                  std::string name) {
  std::vector<Value> inputs{x, weight};
  if (bias.valid()) inputs.push_back(bias);
  return graph.add(std::make_shared<ConvolutionProductOp>(std::move(window)), std::move(inputs),
                   std::move(name));
}

}  // namespace whyformer
