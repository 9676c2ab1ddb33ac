#include "kernels/impacts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/impacts.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace whyformer {
namespace HWY_NAMESPACE {
namespace {

using namespace vector_math;

constexpr int64_t kLanes = HWY_LANES(float);

}  // namespace

SignSums<float> measure_floats(const float* slopes, const float* x, float constant_part,
                               float* impacts, int64_t count) {
  const V zero = hn::Zero(D()), shift = constant(constant_part);
  V above[2] = {zero, zero}, below[2] = {zero, zero};  // one alone would wait for each addition
  int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    HWY_UNROLL(2)
    for (int part = 0; part < 2; ++part) {
      const int64_t at = i + part * kLanes;
      const V impact = hn::MulAdd(hn::LoadU(D(), slopes + at), hn::LoadU(D(), x + at), shift);
      hn::StoreU(impact, D(), impacts + at);
      above[part] = hn::Add(above[part], hn::Max(impact, zero));
      below[part] = hn::Add(below[part], hn::Min(impact, zero));
    }
  }
  SignSums<float> sums{hn::GetLane(hn::SumOfLanes(D(), hn::Add(above[0], above[1]))),
                       hn::GetLane(hn::SumOfLanes(D(), hn::Add(below[0], below[1])))};
  for (; i < count; ++i) {
    impacts[i] = slopes[i] * x[i] + constant_part;
    (impacts[i] > 0 ? sums.positive : sums.negative) += impacts[i];
  }
  return sums;
}

void share_floats(const float* impacts, SignSums<float> rates, float* shares, int64_t count) {
  const V positive = constant(rates.positive), negative = constant(rates.negative);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const V impact = hn::LoadU(D(), impacts + i);
    const V rate = hn::IfThenElse(hn::Gt(impact, hn::Zero(D())), positive, negative);
    hn::StoreU(hn::MulAdd(impact, rate, hn::LoadU(D(), shares + i)), D(), shares + i);
  }
  for (; i < count; ++i) {
    shares[i] += impacts[i] * (impacts[i] > 0 ? rates.positive : rates.negative);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace whyformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace whyformer {
namespace {

HWY_EXPORT(measure_floats);
HWY_EXPORT(share_floats);

}  // namespace

SignSums<float> measure_impacts(const float* slopes, const float* x, float constant, float* impacts,
                                int64_t count) {
  return HWY_DYNAMIC_DISPATCH(measure_floats)(slopes, x, constant, impacts, count);
}

SignSums<double> measure_impacts(const double* slopes, const double* x, double constant,
                                 double* impacts, int64_t count) {
  SignSums<double> sums;
  for (int64_t i = 0; i < count; ++i) {
    impacts[i] = slopes[i] * x[i] + constant;
    (impacts[i] > 0 ? sums.positive : sums.negative) += impacts[i];
  }
  return sums;
}

void share_by_sign(const float* impacts, SignSums<float> rates, float* shares, int64_t count) {
  HWY_DYNAMIC_DISPATCH(share_floats)(impacts, rates, shares, count);
}

void share_by_sign(const double* impacts, SignSums<double> rates, double* shares, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    shares[i] += impacts[i] * (impacts[i] > 0 ? rates.positive : rates.negative);
  }
}

}  // namespace whyformer
#endif  // HWY_ONCE
