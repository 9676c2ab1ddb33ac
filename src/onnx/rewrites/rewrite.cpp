#include "onnx/rewrites/rewrite.h"

#include "ops/ops.h"

#include <cmath>

namespace whyformer::onnx {
namespace {

constexpr int kMostRounds = 16;

std::optional<Replacement> find_replacement(const Pattern& pattern, const Node& node) {
  for (const auto& rules : {plain_rewrites(), attention_rewrites(), norm_rewrites(),
                            activation_rewrites(), quantised_rewrites(), linear_rewrites()}) {
    for (const RewriteRule rule : rules) {
      if (auto found = rule(pattern, node)) return found;
    }
  }
  return std::nullopt;
}

// One round: from the wanted values backwards, what is needed and what replaces it; then forwards,
// the new graph.
class RewriteRound {
 public:
  RewriteRound(const Pattern& pattern, const std::vector<Value>& wanted)
      : graph_(pattern.graph),
        needed_(graph_.nodes().size(), false),
        replacements_(graph_.nodes().size()) {
    for (const Value value : wanted) need(value);
    for (size_t index = needed_.size(); index-- > 0;) {
      if (!needed_[index]) continue;
      const Node& node = graph_.nodes()[index];
      if (node.outputs.size() == 1) replacements_[index] = find_replacement(pattern, node);
      changed_ = changed_ || replacements_[index].has_value();
      const auto& inputs = replacements_[index] ? replacements_[index]->inputs : node.inputs;
      for (const Value input : inputs) need(input);
    }
  }

  bool changed() const { return changed_; }

  Rewritten build() {
    std::vector<Value> renamed(graph_.value_count());
    GraphBuilder builder(Folding::kYes);
    for (const Value input : graph_.inputs()) {
      const ValueType& type = graph_.type(input);
      renamed[input.id] =
          builder.input(graph_.name(input), type.shape, type.dtype,
                        graph_.varies(input) ? InputRole::kExplained : InputRole::kGiven);
    }
    for (size_t index = 0; index < needed_.size(); ++index) {
      if (!needed_[index]) continue;
      const Node& node = graph_.nodes()[index];
      const auto& replacement = replacements_[index];
      std::vector<Value> inputs;
      for (const Value input : replacement ? replacement->inputs : node.inputs) {
        inputs.push_back(renamed[input.id]);
      }
      if (replacement) {
        renamed[node.outputs[0].id] = replacement->build(builder, inputs, node.name);
        continue;
      }
      const std::vector<Value> outputs = builder.add_all(node.op, std::move(inputs), node.name);
      for (size_t output = 0; output < outputs.size(); ++output) {
        renamed[node.outputs[output].id] = outputs[output];
      }
    }
    return {builder.finish(), std::move(renamed)};
  }

 private:
  void need(Value value) {
    if (graph_.producer(value) >= 0) needed_[graph_.producer(value)] = true;
  }

  const Graph& graph_;
  std::vector<bool> needed_;
  std::vector<std::optional<Replacement>> replacements_;
  bool changed_ = false;
};

// One graph after the other, and where the values of the first one went.
class RewriteSteps {
 public:
  RewriteSteps(const Graph& graph, const std::vector<Value>& wanted, int64_t batch,
               const ShareLinear& share_linear)
      : first_(graph), wanted_(wanted), batch_(batch), share_linear_(share_linear) {}

  void apply_rules() {
    for (int round = 0; round < kMostRounds; ++round) {
      const Pattern pattern(last(), batch_, share_linear_);
      RewriteRound one(pattern, wanted_);
      if (begun_ && !one.changed()) return;
      go_on_with(one.build());
    }
  }

  void put_views_off() { go_on_with(with_late_views(last(), wanted_)); }

  Rewritten take() { return std::move(result_); }

 private:
  const Graph& last() const { return begun_ ? result_.graph : first_; }

  void go_on_with(Rewritten next) {
    for (Value& value : wanted_) value = next.new_value[value.id];
    if (begun_) {
      for (Value& value : result_.new_value) {
        if (value.valid()) value = next.new_value[value.id];
      }
      result_.graph = std::move(next.graph);
    } else {
      result_ = std::move(next);
      begun_ = true;
    }
  }

  const Graph& first_;
  std::vector<Value> wanted_;
  const int64_t batch_;
  const ShareLinear& share_linear_;
  bool begun_ = false;
  Rewritten result_;
};

}  // namespace

const Node* Pattern::maker(Value value) const {
  const int producer = graph.producer(value);
  return producer < 0 ? nullptr : &graph.nodes()[producer];
}

const Tensor* Pattern::constant(Value value) const {
  const Node* node = maker(value);
  return node == nullptr ? nullptr : constant_value(*node->op);
}

std::optional<double> Pattern::number(Value value) const {
  const Tensor* tensor = constant(value);
  if (tensor == nullptr || tensor->size() != 1) return std::nullopt;
  return tensor->to_doubles()[0];
}

bool Pattern::is_number(Value value, double wanted) const {
  const auto found = number(value);
  return found && std::abs(*found - wanted) <= 1e-6 * std::abs(wanted);
}

std::optional<Value> Pattern::other_operand(const Node& node, Value operand) const {
  if (node.inputs.size() != 2) return std::nullopt;
  if (node.inputs[0] == operand) return node.inputs[1];
  if (node.inputs[1] == operand) return node.inputs[0];
  return std::nullopt;
}

std::optional<Pattern::Scaled> Pattern::scaled(Value value) const {
  if (const Node* product = made_by<ops::Mul>(value)) {
    for (const int place : {0, 1}) {
      const auto factor = number(product->inputs[place]);
      const Value x = product->inputs[1 - place];
      if (factor && shape(x) == shape(value)) return Scaled{x, *factor};
    }
  }
  if (const Node* quotient = made_by<ops::Div>(value)) {
    const auto divisor = number(quotient->inputs[1]);
    if (divisor && *divisor != 0 && shape(quotient->inputs[0]) == shape(value)) {
      return Scaled{quotient->inputs[0], 1 / *divisor};
    }
  }
  return std::nullopt;
}

Rewritten rewrite(const Graph& graph, const std::vector<Value>& wanted, int64_t batch,
                  const ShareLinear& share_linear) {
  RewriteSteps steps(graph, wanted, batch, share_linear);
  steps.apply_rules();
  steps.put_views_off();
  steps.apply_rules();
  return steps.take();
}

}  // namespace whyformer::onnx
