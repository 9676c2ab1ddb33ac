#include "kernels/elementwise.h"

#include <cmath>
#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace whyformer {
namespace HWY_NAMESPACE {
namespace {

using namespace vector_math;

struct ValueAndSlope {
  V value;
  V slope;
};

struct Gelu {
  static HWY_INLINE ValueAndSlope at(V x) {
    const Normal phi = normal(x);
    return {hn::Mul(x, phi.cumulative), hn::MulAdd(x, phi.density, phi.cumulative)};
  }
};

// 0.5 x (1 + tanh u) = x · sigmoid(2u) with u = √(2/π) (x + 0.044715 x³).
struct GeluTanh {
  static HWY_INLINE ValueAndSlope at(V x) {
    const V square = hn::Mul(x, x);
    const V twice_u =
        hn::Mul(x, hn::MulAdd(square, constant(0.0713548163f), constant(1.59576912f)));
    const V twice_u_slope = hn::MulAdd(square, constant(0.214064449f), constant(1.59576912f));
    const Sigmoid s = sigmoid(twice_u);
    const V value = hn::Mul(x, s.value);
    // Far out the cube overflows; the complement vanishes there first.
    const V bend = hn::Mul(hn::Mul(value, s.complement), twice_u_slope);
    const auto flat = hn::Gt(hn::Abs(x), constant(12.0f));
    return {value, hn::Add(s.value, hn::IfThenZeroElse(flat, bend))};
  }
};

struct Relu {
  static HWY_INLINE ValueAndSlope at(V x) {
    const V zero = hn::Zero(D());
    return {hn::IfThenZeroElse(hn::Lt(x, zero), x),
            hn::IfThenElseZero(hn::Gt(x, zero), constant(1.0f))};
  }
};

struct Tanh {
  static HWY_INLINE ValueAndSlope at(V x) {
    const V value = tanh(x);
    return {value, hn::NegMulAdd(value, value, constant(1.0f))};
  }
};

struct Silu {
  static HWY_INLINE ValueAndSlope at(V x) {
    const Sigmoid s = sigmoid(x);
    const V value = hn::Mul(x, s.value);
    return {value, hn::MulAdd(value, s.complement, s.value)};
  }
};

struct QuickGeluFunction {
  static HWY_INLINE ValueAndSlope at(V x) {
    const V steep = hn::Mul(x, constant(1.702f));
    const Sigmoid s = sigmoid(steep);
    // Multiplied in this order, nothing overflows before the complement makes it small.
    const V bend = hn::Mul(hn::Mul(hn::Mul(x, s.complement), s.value), constant(1.702f));
    return {hn::Mul(x, s.value), hn::Add(s.value, bend)};
  }
};

struct Logistic {
  static HWY_INLINE ValueAndSlope at(V x) {
    const Sigmoid s = sigmoid(x);
    return {s.value, hn::Mul(s.value, s.complement)};
  }
};

template <class F, bool kSlope>
void apply(const float* x, float* y, float* slope, int64_t count) {
  constexpr int64_t kLanes = HWY_LANES(float);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const ValueAndSlope result = F::at(hn::LoadU(D(), x + i));
    hn::StoreU(result.value, D(), y + i);
    if constexpr (kSlope) hn::StoreU(result.slope, D(), slope + i);
  }
  if (i == count) return;
  const ValueAndSlope result = F::at(load_first(x + i, count - i, 0.0f));
  store_first(result.value, y + i, count - i);
  if constexpr (kSlope) store_first(result.slope, slope + i, count - i);
}

template <class F>
void apply(const float* x, float* y, float* slope, int64_t count) {
  if (slope != nullptr) {
    apply<F, true>(x, y, slope, count);
  } else {
    apply<F, false>(x, y, slope, count);
  }
}

struct Sum {
  static HWY_INLINE V of(V a, V b) { return hn::Add(a, b); }
};
struct Product {
  static HWY_INLINE V of(V a, V b) { return hn::Mul(a, b); }
};

template <class F>
void combine(const float* a, const float* b, float* out, int64_t count) {
  constexpr int64_t kLanes = HWY_LANES(float);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(F::of(hn::LoadU(D(), a + i), hn::LoadU(D(), b + i)), D(), out + i);
  }
  if (i == count) return;
  const V rest = F::of(load_first(a + i, count - i, 0.0f), load_first(b + i, count - i, 0.0f));
  store_first(rest, out + i, count - i);
}

}  // namespace

void activate_floats(ActivationFunction f, const float* x, float* y, float* slope, int64_t count) {
  switch (f) {
    case ActivationFunction::kGelu:
      return apply<Gelu>(x, y, slope, count);
    case ActivationFunction::kGeluTanh:
      return apply<GeluTanh>(x, y, slope, count);
    case ActivationFunction::kRelu:
      return apply<Relu>(x, y, slope, count);
    case ActivationFunction::kTanh:
      return apply<Tanh>(x, y, slope, count);
    case ActivationFunction::kSilu:
      return apply<Silu>(x, y, slope, count);
    case ActivationFunction::kSigmoid:
      return apply<Logistic>(x, y, slope, count);
    case ActivationFunction::kQuickGelu:
      return apply<QuickGeluFunction>(x, y, slope, count);
  }
}

void add_floats(const float* a, const float* b, float* out, int64_t count) {
  combine<Sum>(a, b, out, count);
}

void multiply_floats(const float* a, const float* b, float* out, int64_t count) {
  combine<Product>(a, b, out, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace whyformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace whyformer {
namespace {

HWY_EXPORT(activate_floats);
HWY_EXPORT(add_floats);
HWY_EXPORT(multiply_floats);

struct Point {
  double value;
  double slope;
};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

Point gelu(double x) {
  const double cumulative = 0.5 * std::erfc(-x / std::numbers::sqrt2);
  const double density = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return {x * cumulative, cumulative + x * density};
}

Point gelu_tanh(double x) {
  const double root = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const double t = std::tanh(root * (x + 0.044715 * x * x * x));
  const double u_slope = root * (1 + 3 * 0.044715 * x * x);
  return {0.5 * x * (1 + t), 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * u_slope};
}

Point at(ActivationFunction f, double x) {
  switch (f) {
    case ActivationFunction::kGelu:
      return gelu(x);
    case ActivationFunction::kGeluTanh:
      return gelu_tanh(x);
    case ActivationFunction::kRelu:
      return {x < 0 ? 0 : x, x > 0 ? 1.0 : 0.0};
    case ActivationFunction::kTanh:
      return {std::tanh(x), 1 - std::tanh(x) * std::tanh(x)};
    case ActivationFunction::kSilu: {
      const double s = logistic(x);
      return {x * s, s * (1 + x * (1 - s))};
    }
    case ActivationFunction::kSigmoid:
      return {logistic(x), logistic(x) * logistic(-x)};
    case ActivationFunction::kQuickGelu: {
      const double s = logistic(1.702 * x);
      return {x * s, s * (1 + 1.702 * x * (1 - s))};
    }
  }
  return {};
}

}  // namespace

void activate(ActivationFunction f, const float* x, float* y, float* slope, int64_t count) {
  HWY_DYNAMIC_DISPATCH(activate_floats)(f, x, y, slope, count);
}

void activate(ActivationFunction f, const double* x, double* y, double* slope, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const Point point = at(f, x[i]);
    y[i] = point.value;
    if (slope != nullptr) slope[i] = point.slope;
  }
}

void add(const float* a, const float* b, float* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(add_floats)(a, b, out, count);
}

void add(const double* a, const double* b, double* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

void multiply(const float* a, const float* b, float* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(multiply_floats)(a, b, out, count);
}

void multiply(const double* a, const double* b, double* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = a[i] * b[i];
}

}  // namespace whyformer
#endif  // HWY_ONCE
