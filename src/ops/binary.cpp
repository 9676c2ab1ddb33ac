#include <cmath>

#include "ops/arithmetic.h"
#include "ops/broadcast_op.h"
#include "ops/comparison.h"
#include "ops/helpers.h"
#include "ops/layers.h"

namespace whyformer {
namespace {

int64_t wrapping_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t checked_divisor(int64_t divisor) {
  if (divisor == 0) throw InvalidInput("an integer was divided by 0");
  return divisor;
}

// Each function f has its value, the slopes ∂f/∂a and ∂f/∂b, and the factor that stands for ∂f/∂a
// where b only scales or bends.
struct Multiply {
  using Type = ops::Mul;
  static constexpr bool kMovesData = false;
  static constexpr bool kSecondIsParameter = false;
  template <typename T>
  static T value(T a, T b) {
    return a * b;
  }
  template <typename T>
  static T left(T, T b) {
    return b;
  }
  template <typename T>
  static T right(T a, T) {
    return a;
  }
  template <typename T>
  static T ratio(T, T b) {
    return b;
  }
  static int64_t integer_value(int64_t a, int64_t b) { return wrapping_product(a, b); }
};

// A divisor that varies normalises: it takes no relevance.
struct Divide {
  using Type = ops::Div;
  static constexpr bool kMovesData = false;
  static constexpr bool kSecondIsParameter = true;
  template <typename T>
  static T value(T a, T b) {
    return a / b;
  }
  template <typename T>
  static T left(T, T b) {
    return 1 / b;
  }
  template <typename T>
  static T right(T a, T b) {
    return -a / (b * b);
  }
  template <typename T>
  static T ratio(T, T b) {
    return 1 / b;
  }
  static int64_t integer_value(int64_t a, int64_t b) {
    // The one quotient that does not fit wraps around.
    return checked_divisor(b) == -1 ? wrapping_product(a, -1) : a / b;
  }
};

struct Power {
  using Type = ops::Pow;
  static constexpr bool kMovesData = false;
  static constexpr bool kSecondIsParameter = true;
  template <typename T>
  static T value(T a, T b) {
    return b == 2 ? a * a : b == 3 ? a * a * a : std::pow(a, b);
  }
  template <typename T>
  static T left(T a, T b) {
    return b == 0 ? T{0} : b * value(a, b - 1);
  }
  // Below 0 only whole exponents have a value, and at 0 the slope is 0 or infinite.
  template <typename T>
  static T right(T a, T b) {
    return a > 0 ? std::pow(a, b) * std::log(a) : T{0};
  }
  template <typename T>
  static T ratio(T a, T b) {
    return a == 0 ? left(a, b) : value(a, b) / a;
  }
  static int64_t integer_value(int64_t a, int64_t b) {
    if (b < 0) return a == -1 && b % 2 == 0 ? 1 : 1 / checked_divisor(a);
    int64_t result = 1;
    for (; b > 0; b /= 2) {
      if (b % 2 == 1) result = wrapping_product(result, a);
      a = wrapping_product(a, a);
    }
    return result;
  }
};

// The remainder with the sign of the dividend.
struct Remainder {
  using Type = ops::Mod;
  static constexpr bool kMovesData = false;
  static constexpr bool kSecondIsParameter = false;
  template <typename T>
  static T value(T a, T b) {
    return std::fmod(a, b);
  }
  template <typename T>
  static T left(T, T) {
    return 1;
  }
  template <typename T>
  static T right(T a, T b) {
    return -std::trunc(a / b);
  }
  template <typename T>
  static T ratio(T, T) {
    return 1;
  }
  static int64_t integer_value(int64_t a, int64_t b) {
    return checked_divisor(b) == -1 ? 0 : a % b;
  }
};

// The remainder with the sign of the divisor.
struct Modulo {
  using Type = ops::Mod;
  static constexpr bool kMovesData = false;
  static constexpr bool kSecondIsParameter = false;
  template <typename T>
  static T value(T a, T b) {
    const T rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  template <typename T>
  static T left(T, T) {
    return 1;
  }
  template <typename T>
  static T right(T a, T b) {
    return -std::floor(a / b);
  }
  template <typename T>
  static T ratio(T, T) {
    return 1;
  }
  static int64_t integer_value(int64_t a, int64_t b) {
    const int64_t rest = Remainder::integer_value(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
};

// The winner takes gradient and relevance, the first of equals; what is not a number wins.
template <bool kLargest>
struct Extremum {
  using Type = std::conditional_t<kLargest, ops::Max, ops::Min>;
  static constexpr bool kMovesData = true;
  static constexpr bool kSecondIsParameter = false;
  template <typename T>
  static bool first_wins(T a, T b) {
    return (kLargest ? a >= b : a <= b) || a != a;
  }
  template <typename T>
  static T value(T a, T b) {
    return first_wins(a, b) ? a : b;
  }
  template <typename T>
  static T left(T a, T b) {
    return first_wins(a, b) ? T{1} : T{0};
  }
  template <typename T>
  static T right(T a, T b) {
    return first_wins(a, b) ? T{0} : T{1};
  }
  template <typename T>
  static T ratio(T a, T b) {
    return left(a, b);
  }
  static int64_t integer_value(int64_t a, int64_t b) { return value(a, b); }
};

// y = f(a, b); da = ∂f/∂a ⊙ dy and db = ∂f/∂b ⊙ dy, summed over broadcast axes.
template <typename F>
class BinaryOp final : public BroadcastOp<typename F::Type> {
 public:
  BackwardNeeds backward_needs() const override { return {.inputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    Tensors results(2);
    if (call.input_types[0].dtype == DType::kInt64) return results;
    if (wanted[0]) {
      results[0] = back(call, dy[0], 0, [](auto a, auto b) { return F::left(a, b); });
    }
    if (wanted[1]) {
      results[1] = back(call, dy[0], 1, [](auto a, auto b) { return F::right(a, b); });
    }
    return results;
  }

  Tensors linearised(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    if (!F::kSecondIsParameter) return gradient(call, dy, wanted);
    Tensors results(2);
    if (wanted[0] && call.input_types[0].dtype != DType::kInt64) {
      results[0] = back(call, dy[0], 0, [](auto a, auto b) { return F::ratio(a, b); });
    }
    return results;
  }

  // Two inputs cannot both take the whole: they share as the factors of a product do.
  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted& wanted) const override {
    if (rule.kind != RuleKind::kIdentity) return Op::relevance(call, relevance, rule, wanted);
    const double share = !F::kSecondIsParameter && wanted[0] && wanted[1] ? 0.5 : 1;
    return Op::relevance(call, relevance, {.stabiliser = {0, true}, .shares = {share, share}},
                         wanted);
  }

  bool moves_data() const override { return F::kMovesData; }

 private:
  void compute(Tensor& y, const Tensor& a, const Tensor& b) const override {
    with_number_type(y.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const auto f = [](T left, T right) {
        if constexpr (std::is_same_v<T, int64_t>)
          return F::integer_value(left, right);
        else
          return F::value(left, right);
      };
      broadcast_into<T>(y, f, as<T>(a), as<T>(b));
    });
  }

  template <typename Slope>
  static Tensor back(const Call& call, const Tensor& dy, size_t input, const Slope& slope) {
    return with_float_type(dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const auto f = [&](T d, T a, T b) { return passed_back<T>(d, slope(a, b)); };
      return sum_to(broadcast_map<T>(f, dy.shape(), as_whole<T>(dy), as<T>(call.inputs[0]),
                                     as<T>(call.inputs[1])),
                    call.input_types[input].shape);
    });
  }
};

}  // namespace

Value binary(GraphBuilder& graph, Value a, Value b, BinaryFunction f, std::string name) {
  const auto add_op = [&](std::shared_ptr<const Op> op) {
    return graph.add(std::move(op), {a, b}, std::move(name));
  };
  switch (f) {
    case BinaryFunction::kSubtract:
      return subtract(graph, a, b, std::move(name));
    case BinaryFunction::kMultiply:
      return add_op(std::make_shared<BinaryOp<Multiply>>());
    case BinaryFunction::kDivide:
      return add_op(std::make_shared<BinaryOp<Divide>>());
    case BinaryFunction::kPower:
      return add_op(std::make_shared<BinaryOp<Power>>());
    case BinaryFunction::kModulo:
      return add_op(std::make_shared<BinaryOp<Modulo>>());
    case BinaryFunction::kRemainder:
      return add_op(std::make_shared<BinaryOp<Remainder>>());
    case BinaryFunction::kMinimum:
      return add_op(std::make_shared<BinaryOp<Extremum<false>>>());
    case BinaryFunction::kMaximum:
      return add_op(std::make_shared<BinaryOp<Extremum<true>>>());
    default:
      return compare(graph, a, b, f, std::move(name));
  }
}

}  // namespace whyformer
