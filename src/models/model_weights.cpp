#include "models/model_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "base/parallel.h"
#include "base/random.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr double kDeviation = 0.02;

void check_not_rounded(const Node& node) {
  const bool rounds = is_a<ops::QuantizeLinear, ops::DequantizeLinear, ops::DynamicScale>(*node.op);
  const bool has_weights = is_a<ops::Linear, ops::Conv, ops::ConvTranspose>(*node.op);
  if (!rounds && !(has_weights && weight_holder(*node.op) == nullptr)) return;
  throw UnsupportedModel(fmt::format(
      "the weights of this model cannot be replaced by random ones: {} '{}' is quantised, and its "
      "scales belong to the weights it has. Use the model's file of floating-point weights",
      node.op->kind(), node.name));
}

bool has_more_than_two_numbers(const Tensor& tensor) {
  constexpr int64_t kAtOnce = 1024;  // weights show it at once, and tables are large
  const Tensor flat = tensor.reshape({tensor.size()});
  std::set<double> seen;
  for (int64_t at = 0; at < flat.size(); at += kAtOnce) {
    for (const double number : flat.slice(0, at, std::min(kAtOnce, flat.size() - at)).to_doubles())
      seen.insert(number);
    if (seen.size() > 2) return true;
  }
  return false;
}

// One number for each feature: [features], or [features, 1, 1] as convolutions have it. A row of a
// matrix is none: position tables of one position have that shape.
bool is_vector(const Shape& shape) {
  const int64_t longest = shape.empty() ? 1 : *std::max_element(shape.begin(), shape.end());
  return element_count(shape) == longest && (shape.size() == 1 || shape.back() != longest);
}

// What a constant is to a node that it meets what is explained in.
std::optional<WeightKind> kind_at(const Op& op, const Shape& shape) {
  if (is_a<ops::Mul, ops::Div>(op))
    return is_vector(shape) ? std::optional(WeightKind::kScale) : std::nullopt;
  if (is_a<ops::Add, ops::Sub>(op))
    return is_vector(shape) ? WeightKind::kBias : WeightKind::kMatrix;
  if (is_a<ops::MatMul, ops::Concat, ops::Gather, ops::GatherND, ops::GatherElements, ops::Softmax>(
          op))
    return WeightKind::kMatrix;
  if (is_a<ops::ConvProduct>(op)) return is_vector(shape) ? WeightKind::kBias : WeightKind::kMatrix;
  return std::nullopt;
}

// The first kind of weight that the constant is where it meets what varies, followed through what
// only moves or resizes it.
std::optional<WeightKind> kind_of_constant(const Graph& graph, const Node& constant) {
  const Tensor* tensor = constant_value(*constant.op);
  if (tensor == nullptr || tensor->dtype() == DType::kInt64 || tensor->size() < 2)
    return std::nullopt;
  std::optional<WeightKind> found;
  std::vector<Value> open{constant.outputs[0]};
  std::set<Value> seen(open.begin(), open.end());
  while (!open.empty()) {
    const Value value = open.back();
    open.pop_back();
    for (const int user : graph.users(value)) {
      const Node& node = graph.nodes()[user];
      if (!graph.varies(node.outputs[0])) {
        if (seen.insert(node.outputs[0]).second) open.push_back(node.outputs[0]);
        continue;
      }
      const auto kind = kind_at(*node.op, graph.shape(value));
      if (kind && (!found || *kind == WeightKind::kMatrix)) found = kind;
    }
  }
  return found && has_more_than_two_numbers(*tensor) ? found : std::nullopt;
}

std::vector<HeldWeight> weights_of(const Graph& graph, const Node& node) {
  if (const auto kind = kind_of_constant(graph, node)) {
    const ValueType& type = graph.type(node.outputs[0]);
    return {{*kind, type.shape, type.dtype}};
  }
  const HoldsWeights* holder = weight_holder(*node.op);
  if (holder == nullptr || element_count(holder->held_weights()[0].shape) < 2) return {};
  return holder->held_weights();
}

// Numbers of nodes that share a name, by the operator: rows that run by themselves (see
// restrict_rows) share it with the whole.
class Places {
 public:
  std::string of(const Node& node) {
    std::vector<const Op*>& ops = by_name_[node.name];
    auto known = std::find(ops.begin(), ops.end(), node.op.get());
    const auto number = known - ops.begin();
    if (known == ops.end()) ops.push_back(node.op.get());
    return number == 0 ? node.name : fmt::format("{}#{}", node.name, number);
  }

 private:
  std::map<std::string, std::vector<const Op*>> by_name_;
};

// Which draw each element gets: by its place along every axis, so that a longer table starts with
// the shorter one. Repetitions along a batch stay repetitions.
class DrawNumbers {
 public:
  DrawNumbers(const Shape& shape, bool repeats_first) : shape_(shape), factors_(shape.size(), 1) {
    constexpr uint64_t kPerAxis = 1'000'003;
    for (size_t axis = shape.size(); axis-- > 1;) factors_[axis - 1] = factors_[axis] * kPerAxis;
    if (repeats_first) factors_[0] = 0;
  }

  int64_t operator[](int64_t element) const {
    uint64_t number = 0;
    for (size_t axis = shape_.size(); axis-- > 0;) {
      number += static_cast<uint64_t>(element % shape_[axis]) * factors_[axis];
      element /= shape_[axis];
    }
    return static_cast<int64_t>(number & kMostDraws);
  }

 private:
  static constexpr uint64_t kMostDraws = (uint64_t{1} << 62) - 1;  // a normal takes two uniforms
  Shape shape_;
  std::vector<uint64_t> factors_;
};

Tensor drawn_matrix(const HeldWeight& weight, const CounterRandom& random, bool repeats_first) {
  Tensor drawn = Tensor::empty(weight.shape, DType::kFloat64);
  double* numbers = drawn.mutable_data<double>();
  const DrawNumbers draws(weight.shape, repeats_first);
  parallel_for(drawn.size(), 1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) numbers[i] = kDeviation * random.normal(draws[i]);
  });
  return drawn.cast(weight.dtype);
}

Tensor initial(const HeldWeight& weight, const CounterRandom& random, bool repeats_first = false) {
  if (weight.kind == WeightKind::kMatrix) return drawn_matrix(weight, random, repeats_first);
  Tensor tensor = Tensor::empty(weight.shape, weight.dtype);
  tensor.fill(weight.kind == WeightKind::kScale ? 1 : 0);
  return tensor;
}

// Whether a tensor says the same for every sample of a batch in front.
bool repeats_first_axis(const Tensor& tensor) {
  if (tensor.rank() < 3 || tensor.dim(0) < 2) return false;
  const std::vector<double> first = tensor.select(0, 0).to_doubles();
  for (int64_t i = 1; i < tensor.dim(0); ++i) {
    if (tensor.select(0, i).to_doubles() != first) return false;
  }
  return true;
}

// A bias of attention scores may have a mask in it, which stays: no bias is that small.
Tensor with_mask_of(const Tensor& own, const Tensor& drawn) {
  constexpr double kMasked = -50;
  std::vector<double> numbers = drawn.to_doubles();
  const std::vector<double> before = own.to_doubles();
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (before[i] < kMasked) numbers[i] = before[i];
  }
  return Tensor::of<double>(own.shape(), std::span<const double>(numbers)).cast(own.dtype());
}

}  // namespace

ModelWeights::ModelWeights(const ModelGraph& model) {
  const Graph& graph = model.graph;
  Places places;
  std::vector<bool> has_matrix(graph.nodes().size(), false);
  for (int i = 0; i < static_cast<int>(graph.nodes().size()); ++i) {
    const Node& node = graph.nodes()[i];
    check_not_rounded(node);
    std::vector<HeldWeight> weights = weights_of(graph, node);
    if (weights.empty()) continue;
    const bool matrix = weights[0].kind == WeightKind::kMatrix;
    has_matrix[i] = matrix && !node.inputs.empty();
    for (const int user :
         node.inputs.empty() && matrix ? graph.users(node.outputs[0]) : std::vector<int>()) {
      has_matrix[user] = is_a<ops::MatMul, ops::ConvProduct>(*graph.nodes()[user].op);
    }
    all_.push_back({i, 0, places.of(node), std::move(weights)});
  }
  steps_ = find_layer_steps(graph, model.found.sites, model.output, has_matrix);
  std::erase_if(all_, [&](const NodeWeights& one) { return steps_.of_node[one.node] < 0; });
  for (NodeWeights& one : all_) one.step = steps_.of_node[one.node];
}

std::vector<int64_t> ModelWeights::step_sizes() const {
  std::vector<int64_t> sizes(steps_.layers + 2, 0);
  for (const NodeWeights& one : all_) {
    for (const HeldWeight& weight : one.weights) sizes[one.step] += element_count(weight.shape);
  }
  return sizes;
}

std::vector<std::string> ModelWeights::step_names() const {
  std::vector<std::string> names;
  for (int step = 0; step < steps_.layers + 2; ++step) names.push_back(steps_.name(step));
  return names;
}

std::shared_ptr<const Op> RandomWeights::drawn(const Op& own, const NodeWeights& weights,
                                               int64_t seed) {
  if (const Tensor* constant = constant_value(own)) {
    const CounterRandom random(seed, weights.place, 0);
    return std::make_shared<Constant>(with_mask_of(
        *constant, initial(weights.weights[0], random, repeats_first_axis(*constant))));
  }
  const HoldsWeights& holder = *weight_holder(own);
  // What lies between two spaces cannot be part of a shape or of a type.
  std::string key = fmt::format("{} {} {}", weights.place, own.kind(),
                                static_cast<int>(weights.weights[0].dtype));
  for (const HeldWeight& weight : weights.weights) key += to_string(weight.shape);
  const auto known = kept_.find(key);
  if (known != kept_.end()) return known->second;
  Tensors tensors;
  for (const HeldWeight& weight : weights.weights) {
    const auto number = static_cast<int64_t>(tensors.size());
    tensors.push_back(initial(weight, CounterRandom(seed, weights.place, number)));
  }
  auto op = holder.with_weights(tensors);
  if (!holder.follows_shapes()) kept_[key] = op;
  return op;
}

Graph RandomWeights::in_place_of(const ModelGraph& model, const Randomisation& how) {
  const std::lock_guard lock(mutex_);
  if (how.seed != seed_) kept_.clear();
  seed_ = how.seed;
  const ModelWeights weights(model);
  GraphBuilder builder(model.graph, Folding::kNo);
  for (const NodeWeights& one : weights.all()) {
    if (!how.includes(one.step)) continue;
    builder.replace(one.node, drawn(*model.graph.nodes()[one.node].op, one, how.seed));
  }
  return builder.finish();
}

}  // namespace whyformer
