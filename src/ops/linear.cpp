#include <fmt/format.h>

#include "graph/held_weights.h"
#include "graph/op_abilities.h"
#include "ops/helpers.h"
#include "ops/layers.h"
#include "ops/linear_activation.h"
#include "ops/linear_relevance.h"

namespace whyformer {
namespace {

// y = x·Wᵀ + bias, dx = dy·W.
class LinearOp final : public ops::Linear, public HoldsWeights, public RunsWithReader {
 public:
  explicit LinearOp(std::shared_ptr<const LinearWeights> weights) : weights_(std::move(weights)) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], {{}, weights_->dtype()});
    if (inputs[0].shape.empty()) throw InvalidInput("the input needs at least one axis");
    const int64_t columns = inputs[0].shape.back();
    if (columns != weights_->in_features()) {
      throw InvalidInput(fmt::format("the input has {} columns but the weight takes {}", columns,
                                     weights_->in_features()));
    }
    Shape shape = inputs[0].shape;
    shape.back() = weights_->out_features();
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{weights_->apply(inputs[0], Direction::kForward, WeightPart::kAll, true)}, {}};
  }

  Tensors gradient(const Call&, TensorSpan dy, const Wanted&) const override {
    return {weights_->apply(dy[0], Direction::kBackward)};
  }

  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted&) const override {
    return {linear_relevance(*weights_, call.inputs[0], call.outputs[0], relevance[0], rule)};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    // The last axis is a new one: features of another space.
    if (axis == static_cast<int>(inputs[0].shape.size()) - 1) return std::nullopt;
    return same_axis(axis);
  }

  const LinearWeights& weights() const override { return *weights_; }

  std::vector<HeldWeight> held_weights() const override {
    const Shape matrix{weights_->out_features(), weights_->in_features()};
    std::vector<HeldWeight> held{{WeightKind::kMatrix, matrix, weights_->dtype()}};
    if (weights_->bias().defined())
      held.push_back({WeightKind::kBias, {matrix[0]}, weights_->dtype()});
    return held;
  }

  std::shared_ptr<const Op> with_weights(const Tensors& weights) const override {
    return std::make_shared<LinearOp>(
        std::make_shared<LinearWeights>(weights[0], weights.size() > 1 ? weights[1] : Tensor()));
  }

  std::shared_ptr<const OpPair> followed_by(const std::shared_ptr<const Op>& next) const override {
    if (!is_a<ops::Activation>(*next)) return nullptr;
    return linear_activation(std::make_shared<LinearOp>(weights_), weights_, next);
  }

 private:
  std::shared_ptr<const LinearWeights> weights_;
};

}  // namespace

const LinearWeights* linear_weights(const Op& op) {
  const auto* linear = op_as<ops::Linear>(op);
  return linear == nullptr ? nullptr : &linear->weights();
}

Value linear(GraphBuilder& graph, Value x, std::shared_ptr<const LinearWeights> weights,
             std::string name) {
  return graph.add(std::make_shared<LinearOp>(std::move(weights)), {x}, std::move(name));
}

}  // namespace whyformer
