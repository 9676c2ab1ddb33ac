#include <cmath>
#include <numbers>

#include "ops/arithmetic.h"
#include "ops/elementwise_op.h"

namespace whyformer {
namespace {

// Integers wrap around: the least one is its own negative.
int64_t negative(int64_t x) { return static_cast<int64_t>(-static_cast<uint64_t>(x)); }

struct Negate {
  static std::string_view kind() { return "Neg"; }
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

struct Abs {
  static std::string_view kind() { return "Abs"; }
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

struct Sign : Flat {
  static std::string_view kind() { return "Sign"; }
  template <typename T>
  T value(T x) const {
    return x != x ? x : static_cast<T>((x > 0) - (x < 0));
  }
  int64_t integer_value(int64_t x) const { return (x > 0) - (x < 0); }
};

struct Floor : Flat {
  static std::string_view kind() { return "Floor"; }
  template <typename T>
  T value(T x) const {
    return std::floor(x);
  }
  int64_t integer_value(int64_t x) const { return x; }
};

struct Ceil : Flat {
  static std::string_view kind() { return "Ceil"; }
  template <typename T>
  T value(T x) const {
    return std::ceil(x);
  }
  int64_t integer_value(int64_t x) const { return x; }
};

// Halves go to the even neighbour.
struct Round : Flat {
  static std::string_view kind() { return "Round"; }
  template <typename T>
  T value(T x) const {
    return std::nearbyint(x);
  }
  int64_t integer_value(int64_t x) const { return x; }
};

struct Sqrt {
  static std::string_view kind() { return "Sqrt"; }
  template <typename T>
  T value(T x) const {
    return std::sqrt(x);
  }
  template <typename T>
  T slope(T x) const {
    return T{0.5} / std::sqrt(x);
  }
};

struct Reciprocal {
  static std::string_view kind() { return "Reciprocal"; }
  template <typename T>
  T value(T x) const {
    return 1 / x;
  }
  template <typename T>
  T slope(T x) const {
    return -1 / (x * x);
  }
};

struct Exp {
  static std::string_view kind() { return "Exp"; }
  template <typename T>
  T value(T x) const {
    return std::exp(x);
  }
  template <typename T>
  T slope(T x) const {
    return std::exp(x);
  }
};

struct Log {
  static std::string_view kind() { return "Log"; }
  template <typename T>
  T value(T x) const {
    return std::log(x);
  }
  template <typename T>
  T slope(T x) const {
    return 1 / x;
  }
};

struct Erf {
  static std::string_view kind() { return "Erf"; }
  template <typename T>
  T value(T x) const {
    return std::erf(x);
  }
  template <typename T>
  T slope(T x) const {
    return 2 * std::numbers::inv_sqrtpi_v<T> * std::exp(-x * x);
  }
};

struct Sin {
  static std::string_view kind() { return "Sin"; }
  template <typename T>
  T value(T x) const {
    return std::sin(x);
  }
  template <typename T>
  T slope(T x) const {
    return std::cos(x);
  }
};

struct Cos {
  static std::string_view kind() { return "Cos"; }
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
struct Softplus {
  static std::string_view kind() { return "Softplus"; }
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
class Test final : public Op {
 public:
  std::string_view kind() const override { return Question::kind(); }

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

struct IsNan {
  static std::string_view kind() { return "IsNaN"; }
  template <typename T>
  static bool of(T x) {
    return x != x;
  }
};

struct Not {
  static std::string_view kind() { return "Not"; }
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
      return elementwise<Negate>();
    case UnaryFunction::kAbs:
      return elementwise<Abs>();
    case UnaryFunction::kSign:
      return elementwise<Sign>();
    case UnaryFunction::kFloor:
      return elementwise<Floor>();
    case UnaryFunction::kCeil:
      return elementwise<Ceil>();
    case UnaryFunction::kRound:
      return elementwise<Round>();
    case UnaryFunction::kSqrt:
      return elementwise<Sqrt>();
    case UnaryFunction::kReciprocal:
      return elementwise<Reciprocal>();
    case UnaryFunction::kExp:
      return elementwise<Exp>();
    case UnaryFunction::kLog:
      return elementwise<Log>();
    case UnaryFunction::kErf:
      return elementwise<Erf>();
    case UnaryFunction::kSin:
      return elementwise<Sin>();
    case UnaryFunction::kCos:
      return elementwise<Cos>();
    case UnaryFunction::kSoftplus:
      return elementwise<Softplus>();
    case UnaryFunction::kIsNan:
      return std::make_shared<Test<IsNan>>();
    case UnaryFunction::kNot:
      return std::make_shared<Test<Not>>();
  }
  throw Error("there is no such element-wise function");
}

}  // namespace

Value unary(GraphBuilder& graph, Value x, UnaryFunction f, std::string name) {
  return graph.add(op_of(f), {x}, std::move(name));
}

}  // namespace whyformer
