// Functions on vectors of floats, compiled once for each instruction set. The polynomials are
// minimax fits (Remez exchange, relative error). NaN passes through all of them.

// Highway's guard for headers that are included once per instruction set.
#if defined(WHYFORMER_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHYFORMER_KERNELS_VECTOR_MATH_INL_H_
#undef WHYFORMER_KERNELS_VECTOR_MATH_INL_H_
#else
#define WHYFORMER_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace whyformer {
namespace HWY_NAMESPACE {
namespace vector_math {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V constant(float value) { return hn::Set(D(), value); }

// Fewer elements than a vector has, in pieces of fixed sizes: a call of memcpy takes longer.
HWY_INLINE void copy_first(const float* from, float* to, int64_t count) {
  constexpr int64_t kLargest = HWY_LANES(float) / 2;
  HWY_UNROLL(8)
  for (int64_t piece = kLargest; piece > 0; piece /= 2) {
    if ((count & piece) == 0) continue;
    std::memcpy(to, from, piece * sizeof(float));
    from += piece;
    to += piece;
  }
}

// A vector whose first `count` lanes, fewer than all, come from memory and whose others are `fill`.
HWY_INLINE V load_first(const float* from, int64_t count, float fill) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN float lanes[HWY_LANES(float)];
  hn::Store(constant(fill), D(), lanes);
  copy_first(from, lanes, count);
  return hn::Load(D(), lanes);
#else
  const auto mask = hn::FirstN(D(), static_cast<size_t>(count));
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, D(), from), constant(fill));
#endif
}

HWY_INLINE void store_first(V value, float* to, int64_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN float lanes[HWY_LANES(float)];
  hn::Store(value, D(), lanes);
  copy_first(lanes, to, count);
#else
  hn::BlendedStore(value, hn::FirstN(D(), static_cast<size_t>(count)), D(), to);
#endif
}

// c[0] + c[1] x + ... + c[kTerms - 1] x^(kTerms - 1).
template <int kTerms>
HWY_INLINE V polynomial(V x, const float (&c)[kTerms]) {
  V sum = constant(c[kTerms - 1]);
  HWY_UNROLL(16)
  for (int i = kTerms - 2; i >= 0; --i) sum = hn::MulAdd(sum, x, constant(c[i]));
  return sum;
}

// 2^k for whole k in [-126, 127].
HWY_INLINE V power_of_two(hn::Vec<hn::RebindToSigned<D>> k) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(k, hn::Set(di, 127))));
}

// e^x - 1 for |x| up to about 0.35.
HWY_INLINE V exp_minus_one_near_zero(V x) {
  constexpr float kTerms[] = {0.499999933731f, 0.166665195241f, 0.0416684010807f, 0.00836885106476f,
                              0.00138143206362f};
  return hn::MulAdd(hn::Mul(x, x), polynomial(x, kTerms), x);
}

HWY_INLINE V exp(V x) {
  const hn::RebindToSigned<D> di;
  // Beyond these, results are below half the smallest or above the largest float.
  const auto too_small = hn::Lt(x, constant(-104.0f));
  const auto too_large = hn::Gt(x, constant(88.7228394f));
  // ln 2 in two parts, of which the first times a small whole number is exact.
  const V k = hn::Round(hn::Mul(x, constant(1.44269504f)));
  const V rest =
      hn::NegMulAdd(k, constant(-2.12194440e-4f), hn::NegMulAdd(k, constant(0.693359375f), x));
  const V power = hn::Add(exp_minus_one_near_zero(rest), constant(1.0f));
  // Two factors, since 2^k itself may be too small for a float that is not denormal.
  const auto whole = hn::ConvertTo(di, k);
  const auto half = hn::ShiftRight<1>(whole);
  const V result = hn::Mul(hn::Mul(power, power_of_two(half)), power_of_two(hn::Sub(whole, half)));
  return hn::IfThenElse(too_large, constant(std::numeric_limits<float>::infinity()),
                        hn::IfThenZeroElse(too_small, result));
}

// 1 / (1 + e^-x) and its complement, both to full relative precision.
struct Sigmoid {
  V value;
  V complement;
};
HWY_INLINE Sigmoid sigmoid(V x) {
  const V e = exp(hn::Neg(hn::Abs(x)));
  const V larger = hn::Div(constant(1.0f), hn::Add(constant(1.0f), e));
  const V smaller = hn::Mul(e, larger);
  const auto negative = hn::Lt(x, hn::Zero(D()));
  return {hn::IfThenElse(negative, smaller, larger), hn::IfThenElse(negative, larger, smaller)};
}

HWY_INLINE V tanh(V x) {
  const V magnitude = hn::Abs(x);
  constexpr float kTerms[] = {-0.333333175597f, 0.133325861399f, -0.0538523100703f,
                              0.0210716797218f, -0.00627424044249f};
  const V square = hn::Mul(x, x);
  const V near_zero = hn::MulAdd(hn::Mul(magnitude, square), polynomial(square, kTerms), magnitude);
  const V e = exp(hn::Mul(constant(-2.0f), magnitude));
  const V far = hn::Div(hn::Sub(constant(1.0f), e), hn::Add(constant(1.0f), e));
  return hn::CopySign(hn::IfThenElse(hn::Lt(magnitude, constant(0.55f)), near_zero, far), x);
}

// The normal distribution: Φ(x) and its density.
struct Normal {
  V cumulative;
  V density;
};
HWY_INLINE Normal normal(V x) {
  // Φ(-|x|) = e^(-x²/2) · R(u) with u = 1 / (1 + 0.35 |x|); the error of R is below 4e-8 up to
  // |x| = 14, where e^(-x²/2) vanishes.
  constexpr float kTerms[] = {0.139621404365f,  0.13986186843f,    0.119832877212f,
                              0.105507964031f,  -0.0231097355142f, 0.159174008662f,
                              -0.255714115879f, 0.143971628273f,   -0.0291459155263f};
  const V u = hn::Div(constant(1.0f), hn::MulAdd(hn::Abs(x), constant(0.35f), constant(1.0f)));
  const V bell = exp(hn::Mul(hn::Mul(x, constant(-0.5f)), x));
  const V tail = hn::Mul(bell, hn::Mul(u, polynomial(u, kTerms)));
  const V cumulative =
      hn::IfThenElse(hn::Lt(x, hn::Zero(D())), tail, hn::Sub(constant(1.0f), tail));
  return {cumulative, hn::Mul(bell, constant(0.398942280f))};
}

}  // namespace vector_math
}  // namespace HWY_NAMESPACE
}  // namespace whyformer
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
