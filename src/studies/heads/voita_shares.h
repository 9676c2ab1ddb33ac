// What all rules of Voita et al. share.
#pragma once

#include "kernels/impacts.h"
#include "tensor/map.h"

namespace whyformer::voita {

constexpr double kEpsilon = 1e-5;

// What each unit of positive and of negative impact gets of an output's relevance.
template <typename T>
SignSums<T> rates_of(T relevance, SignSums<T> impacts) {
  const T epsilon = static_cast<T>(kEpsilon);
  return {relevance / 2 / (impacts.positive + epsilon),
          relevance / 2 / (impacts.negative - epsilon)};
}

template <typename T>
T share_of(T impact, const SignSums<T>& rates) {
  return impact * (impact > 0 ? rates.positive : rates.negative);
}

inline double total(const Tensor& relevance) { return sums_of(relevance).plain; }

// The factor that gives relevance of this sum the wanted one.
inline double rescaling(double wanted, double sum) { return wanted / (sum + kEpsilon); }

inline Tensor times(const Tensor& relevance, double factor) {
  return map([factor](auto r) { return r * static_cast<decltype(r)>(factor); }, relevance);
}

}  // namespace whyformer::voita
