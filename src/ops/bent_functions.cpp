// Activations with parameters of their own.
#include <algorithm>
#include <cmath>

#include "ops/arithmetic.h"
#include "ops/elementwise_op.h"
#include "ops/layers.h"

namespace whyformer {
namespace {

struct LeakyReluFunction {
  double negative_slope;

  using Type = ops::LeakyRelu;
  template <typename T>
  T value(T x) const {
    return x >= 0 ? x : static_cast<T>(negative_slope) * x;
  }
  template <typename T>
  T slope(T x) const {
    return x > 0 ? T{1} : static_cast<T>(negative_slope);
  }
};

struct EluFunction {
  double alpha;

  using Type = ops::Elu;
  template <typename T>
  T value(T x) const {
    return x > 0 ? x : static_cast<T>(alpha) * std::expm1(x);
  }
  template <typename T>
  T slope(T x) const {
    return x > 0 ? T{1} : static_cast<T>(alpha) * std::exp(x);
  }
};

// In the order in which std::min and std::max let NaN pass.
struct HardSigmoidFunction {
  double steepness;
  double offset;

  using Type = ops::HardSigmoid;
  template <typename T>
  T line(T x) const {
    return static_cast<T>(steepness) * x + static_cast<T>(offset);
  }
  template <typename T>
  T value(T x) const {
    return std::max(std::min(line(x), T{1}), T{0});
  }
  template <typename T>
  T slope(T x) const {
    return line(x) > 0 && line(x) < 1 ? static_cast<T>(steepness) : T{0};
  }
};

// x · max(0, min(1, x/6 + 1/2)).
struct HardSwishFunction {
  using Type = ops::HardSwish;
  template <typename T>
  T value(T x) const {
    return x * std::max(std::min(x / 6 + T{0.5}, T{1}), T{0});
  }
  template <typename T>
  T slope(T x) const {
    return x <= -3 ? T{0} : x >= 3 ? T{1} : x / 3 + T{0.5};
  }
};

struct SigmoidTimesFunction {
  double alpha;

  using Type = ops::QuickGelu;
  template <typename T>
  T sigmoid(T x) const {
    return 1 / (1 + std::exp(-static_cast<T>(alpha) * x));
  }
  template <typename T>
  T value(T x) const {
    return x * sigmoid(x);
  }
  template <typename T>
  T slope(T x) const {
    const T s = sigmoid(x);
    return s + passed_back<T>(s * (1 - s), static_cast<T>(alpha) * x);
  }
};

template <typename F>
Value add_to(GraphBuilder& graph, Value x, F f, std::string name) {
  return graph.add(std::make_shared<ElementwiseOp<F>>(f), {x}, std::move(name));
}

}  // namespace

Value leaky_relu(GraphBuilder& graph, Value x, double slope, std::string name) {
  return add_to(graph, x, LeakyReluFunction{slope}, std::move(name));
}

Value elu(GraphBuilder& graph, Value x, double alpha, std::string name) {
  return add_to(graph, x, EluFunction{alpha}, std::move(name));
}

Value hard_sigmoid(GraphBuilder& graph, Value x, double slope, double offset, std::string name) {
  return add_to(graph, x, HardSigmoidFunction{slope, offset}, std::move(name));
}

std::optional<HardSigmoidLine> hard_sigmoid_line(const Op& op) {
  const auto* found = dynamic_cast<const ElementwiseOp<HardSigmoidFunction>*>(&op);
  if (found == nullptr) return std::nullopt;
  return HardSigmoidLine{found->function().steepness, found->function().offset};
}

Value hard_swish(GraphBuilder& graph, Value x, std::string name) {
  return add_to(graph, x, HardSwishFunction{}, std::move(name));
}

Value sigmoid_times(GraphBuilder& graph, Value x, double alpha, std::string name) {
  constexpr double kQuickGelu = 1.702;  // files store it rounded to a float
  if (std::abs(alpha - kQuickGelu) < 1e-6)
    return activation(graph, x, ActivationFunction::kQuickGelu, std::move(name));
  return add_to(graph, x, SigmoidTimesFunction{alpha}, std::move(name));
}

}  // namespace whyformer
