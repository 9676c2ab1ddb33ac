#include <cmath>
#include <numbers>

#include "ops/arithmetic.h"
#include "ops/elementwise_op.h"

namespace whyformer {
namespace {

// Integers wrap around: the least one is its own negative.
int64_t negative(int64_t x) { return static_cast<int64_t>(-static_cast<uint64_t>(x)); }

struct NegateFunction {
  using Type = ops::Neg;
  template <typename T>
  T value(T x) const {
    return -x;
  }
  template <typename T>
  T slope(T) const {
    return -1;
  }
  int64_t integer_value(int64_t x) const { return negative(x); }
};

struct AbsFunction {
  using Type = ops::Abs;
  template <typename T>
  T value(T x) const {
    return std::abs(x);
  }
  template <typename T>
  T slope(T x) const {
    return static_cast<T>((x > 0) - (x < 0));
  }
  int64_t integer_value(int64_t x) const { return x < 0 ? negative(x) : x; }
};

// Step functions are flat wherever they have a slope.
struct Flat {
  template <typename T>
  T slope(T) const {
    return 0;
  }
};

struct SignFunction : Flat {
  using Type = ops::Sign;
  template <typename T>
  T value(T x) const {
    return x != x ? x : static_cast<T>((x > 0) - (x < 0));
  }
  int64_t integer_value(int64_t x) const { return (x > 0) - (x < 0); }
};

struct FloorFunction : Flat {
  using Type = ops::Floor;
  template <typename T>
  T value(T x) const {
    return std::floor(x);
  }
  int64_t integer_value(int64_t x) const { return x; }
};

struct CeilFunction : Flat {
  using Type = ops::Ceil;
  template <typename T>
  T value(T x) const {
    return std::ceil(x);
  }
  int64_t integer_value(int64_t x) const { return x; }
};

// Halves go to the even neighbour.
struct RoundFunction : Flat {
  using Type = ops::Round;
  template <typename T>
  T value(T x) const {
    return std::nearbyint(x);
  }
  int64_t integer_value(int64_t x) const { return x; }
};

struct SqrtFunction {
  using Type = ops::Sqrt;
  template <typename T>
  T value(T x) const {
    return std::sqrt(x);
  }
  template <typename T>
  T slope(T x) const {
    return T{0.5} / std::sqrt(x);
  }
};

struct ReciprocalFunction {
  using Type = ops::Reciprocal;
  template <typename T>
  T value(T x) const {
    return 1 / x;
  }
  template <typename T>
  T slope(T x) const {
    return -1 / (x * x);
  }
};

struct ExpFunction {
  using Type = ops::Exp;
  template <typename T>
  T value(T x) const {
    return std::exp(x);
  }
  template <typename T>
  T slope(T x) const {
    return std::exp(x);
  }
};

struct LogFunction {
  using Type = ops::Log;
  template <typename T>
  T value(T x) const {
    return std::log(x);
  }
  template <typename T>
  T slope(T x) const {
    return 1 / x;
  }
};

struct ErfFunction {
  using Type = ops::Erf;
  template <typename T>
  T value(T x) const {
    return std::erf(x);
  }
  template <typename T>
  T slope(T x) const {
    return 2 * std::numbers::inv_sqrtpi_v<T> * std::exp(-x * x);
  }
};

struct SinFunction {
  using Type = ops::Sin;
  template <typename T>
  T value(T x) const {
    return std::sin(x);
  }
  template <typename T>
  T slope(T x) const {
    return std::cos(x);
  }
};

struct CosFunction {
  using Type = ops::Cos;
  template <typename T>
  T value(T x) const {
    return std::cos(x);
  }
  template <typename T>
  T slope(T x) const {
    return -std::sin(x);
  }
};

// log(1 + eˣ), written so that neither end overflows.
struct SoftplusFunction {
  using Type = ops::Softplus;
  template <typename T>
  T value(T x) const {
    return std::max(x, T{0}) + std::log1p(std::exp(-std::abs(x)));
  }
  template <typename T>
  T slope(T x) const {
    return 1 / (1 + std::exp(-x));
  }
};

// A question about each element: 0 or 1, which has no gradient.
template <typename Question>
class TestOp final : public Question::Type {
 public:
  std::vector<ValueType> infer(ValueTypes inputs) const override {
    return {{inputs[0].shape, DType::kInt64}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return with_number_type(inputs[0].dtype(), [&](auto zero) {
      using T = decltype(zero);
      return Forward{{broadcast_map<int64_t>([](T x) { return Question::of(x); }, inputs[0].shape(),
                                             as<T>(inputs[0]))},
                     {}};
    });
  }

  Tensors gradient(const Call&, TensorSpan, const Wanted&) const override { return Tensors(1); }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override { return same_axis(axis); }
};

struct IsNanFunction {
  using Type = ops::IsNaN;
  template <typename T>
  static bool of(T x) {
    return x != x;
  }
};

struct NotFunction {
  using Type = ops::Not;
  template <typename T>
  static bool of(T x) {
    return x == 0;
  }
};

template <typename F>
std::shared_ptr<const Op> elementwise() {
  return std::make_shared<ElementwiseOp<F>>();
}

std::shared_ptr<const Op> op_of(UnaryFunction f) {
  switch (f) {
    case UnaryFunction::kNegate:
      return elementwise<NegateFunction>();
    case UnaryFunction::kAbs:
      return elementwise<AbsFunction>();
    case UnaryFunction::kSign:
      return elementwise<SignFunction>();
    case UnaryFunction::kFloor:
      return elementwise<FloorFunction>();
    case UnaryFunction::kCeil:
      return elementwise<CeilFunction>();
    case UnaryFunction::kRound:
      return elementwise<RoundFunction>();
    case UnaryFunction::kSqrt:
      return elementwise<SqrtFunction>();
    case UnaryFunction::kReciprocal:
      return elementwise<ReciprocalFunction>();
    case UnaryFunction::kExp:
      return elementwise<ExpFunction>();
    case UnaryFunction::kLog:
      return elementwise<LogFunction>();
    case UnaryFunction::kErf:
      return elementwise<ErfFunction>();
    case UnaryFunction::kSin:
      return elementwise<SinFunction>();
    case UnaryFunction::kCos:
      return elementwise<CosFunction>();
    case UnaryFunction::kSoftplus:
      return elementwise<SoftplusFunction>();
    case UnaryFunction::kIsNan:
      return std::make_shared<TestOp<IsNanFunction>>();
    case UnaryFunction::kNot:
      return std::make_shared<TestOp<NotFunction>>();
  }
  throw Error("there is no such element-wise function");
}

}  // namespace

Value unary(GraphBuilder& graph, Value x, UnaryFunction f, std::string name) {
  return graph.add(op_of(f), {x}, std::move(name));
}

}  // namespace whyformer
