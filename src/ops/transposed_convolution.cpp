#include <fmt/format.h>

#include "base/parallel.h"
#include "graph/held_weights.h"
#include "ops/helpers.h"
#include "ops/pictures.h"
#include "ops/windows.h"
#include "tensor/map.h"

namespace whyformer {
namespace {

// The way back of a convolution, used forward: each input position spreads its kernel over the
// output.
class TransposedConvolutionOp final : public ops::ConvTranspose, public HoldsWeights {
 public:
  TransposedConvolutionOp(Tensor weight, Tensor bias, Window window,
                          std::vector<int64_t> output_pads)
      : shape_(weight.shape()),
        bias_(bias.defined() ? bias.contiguous() : Tensor()),
        window_(std::move(window)),
        output_pads_(std::move(output_pads)) {
    const Shape matrix{shape_[0], element_count({shape_.begin() + 1, shape_.end()})};
    const int64_t channels = shape_[0] / window_.groups;
    const Tensor rows = weight.reshape(matrix);
    for (int64_t g = 0; g < window_.groups; ++g) {
      weights_.push_back(
          std::make_shared<LinearWeights>(rows.slice(0, g * channels, channels), Tensor()));
    }
  }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], {{}, weights_[0]->dtype()});
    if (bias_.defined()) check_same_type(inputs[0], {{}, bias_.dtype()});
    const Shape& input = inputs[0].shape;
    if (input.size() != shape_.size() || input[1] != shape_[0]) {
      throw InvalidInput(fmt::format("an input {} does not fit weights {} in {} groups",
                                     to_string(input), to_string(shape_), window_.groups));
    }
    return {{output_shape(input), inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    Tensor y = Tensor::zeros(output_shape(inputs[0].shape()), inputs[0].dtype());
    if (bias_.defined()) y.copy_from(spread_bias(y.shape()));
    if (y.size() == 0 || inputs[0].size() == 0) return {{y}, {}};
    const WindowGrid grid = grid_over(inputs[0].shape());
    const int64_t features = shape_[1], channels = weights_[0]->out_features();
    parallel_for(window_.groups, 1, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const Tensor rows = rows_of_grid(inputs[0].slice(1, g * channels, channels));
        grid.fold(weights_[g]->apply(rows, Direction::kBackward), g * features, features, y);
      }
    });
    return {{y}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    const Shape& input = call.input_types[0].shape;
    Tensor dx = Tensor::zeros(input, dy[0].dtype());
    if (dy[0].size() == 0 || dx.size() == 0) return {dx};
    const WindowGrid grid = grid_over(input);
    const int64_t features = shape_[1], channels = weights_[0]->out_features();
    Tensor flat = dx.reshape({input[0], input[1], grid.positions()});
    parallel_for(window_.groups, 1, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const Tensor rows =
            weights_[g]->apply(grid.patches(dy[0], g * features, features), Direction::kForward);
        flat.slice(1, g * channels, channels)
            .copy_from(rows.reshape({input[0], grid.positions(), channels}).transpose(1, 2));
      }
    });
    return {dx};
  }

  // Every rule but `stop` shares in proportion: the groups of products by sign would need the
  // kernel spread by sign, and no policy asks for it.
  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted& wanted) const override {
    if (rule.kind == RuleKind::kStop) return {Tensor()};
    Tensor y = call.outputs[0];
    if (bias_.defined() && !rule.bias) {
      y = map([](auto sum, auto bias) { return sum - bias; }, y, spread_bias(y.shape()));
    }
    const Tensor ratios =
        map([&](auto r, auto f) { return rule.stabiliser.ratio(r, f); }, relevance[0], y);
    const Tensors back = gradient(call, std::vector<Tensor>{ratios}, wanted);
    return {map([](auto share, auto x) { return share * x; }, back[0], call.inputs[0])};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    if (axis != 0) return std::nullopt;
    return same_axis(axis);
  }

  std::vector<HeldWeight> held_weights() const override {
    std::vector<HeldWeight> held{{WeightKind::kMatrix, shape_, weights_[0]->dtype()}};
    if (bias_.defined()) held.push_back({WeightKind::kBias, bias_.shape(), bias_.dtype()});
    return held;
  }

  std::shared_ptr<const Op> with_weights(const Tensors& weights) const override {
    return std::make_shared<TransposedConvolutionOp>(
        weights[0], weights.size() > 1 ? weights[1] : Tensor(), window_, output_pads_);
  }

  bool follows_shapes() const override { return true; }  // padding

 private:
  Shape output_shape(const Shape& input) const {
    Shape shape{input[0], shape_[1] * window_.groups};
    const Shape space = WindowGrid::space_before(input, window_, output_pads_);
    shape.insert(shape.end(), space.begin(), space.end());
    return shape;
  }

  // The convolution that this one turns round: as many windows over the output as the input has
  // positions, whatever pads and output pads leave at its end.
  WindowGrid grid_over(const Shape& input) const {
    const Shape output = output_shape(input);
    Window window = window_;
    window.pads_after.clear();
    for (size_t i = 0; i < window.kernel.size(); ++i) {
      const auto at = [i](const std::vector<int64_t>& numbers, int64_t otherwise) {
        return numbers.empty() ? otherwise : numbers[i];
      };
      const int64_t reach = (input[i + 2] - 1) * at(window.strides, 1) +
                            (window.kernel[i] - 1) * at(window.dilations, 1) + 1;
      window.pads_after.push_back(reach - output[i + 2] - at(window.pads_before, 0));
    }
    return {output, window};
  }

  Tensor spread_bias(const Shape& shape) const {
    Shape one(shape.size(), 1);
    one[1] = shape[1];
    return bias_.reshape(one).expand(shape).contiguous();
  }

  Shape shape_;
  Tensor bias_;
  Window window_;
  std::vector<int64_t> output_pads_;
  std::vector<std::shared_ptr<const LinearWeights>> weights_;
};

}  // namespace

Value transposed_convolution(GraphBuilder& graph, Value x, Tensor weight, Tensor bias,
                             Window window, std::vector<int64_t> output_pads, std::string name) {
  const Shape& shape = weight.shape();
  if (shape.size() != window.kernel.size() + 2 || window.groups < 1 ||
      window.groups > std::max<int64_t>(shape[0], 1) || shape[0] % window.groups != 0 ||
      (bias.defined() && bias.shape() != Shape{shape[1] * window.groups})) {
    throw InvalidInput(fmt::format(
        "ConvTranspose '{}': weights {} and bias {} in {} groups", name, to_string(shape),
        to_string(bias.defined() ? bias.shape() : Shape{}), window.groups));
  }
  return graph.add(
      std::make_shared<TransposedConvolutionOp>(std::move(weight), std::move(bias),
                                                std::move(window), std::move(output_pads)),
      {x}, std::move(name));
}

}  // namespace whyformer
