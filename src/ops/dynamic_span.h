// How ONNX rounds to unsigned 8 bits that span what the numbers span, 0 included.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/quantised.h"

namespace whyformer {

template <typename T>
struct DynamicSpan {
  T step, zero;
};

template <typename T>
DynamicSpan<T> dynamic_span(T least, T most) {
  const T step = least == most ? T{1} : (most - least) / 255;
  return {step, std::nearbyint(std::clamp(-least / step, T{0}, T{255}))};
}

// The span of each input of a batch.
template <typename T>
std::vector<DynamicSpan<T>> dynamic_spans(const Tensor& x, const SampleAxis& samples) {
  const int64_t positions = samples.count == 1 ? 1 : x.dim(samples.axis);
  int64_t behind = x.size();
  for (int axis = 0; samples.count > 1 && axis <= samples.axis; ++axis)
    behind /= std::max<int64_t>(1, x.dim(axis));
  const int64_t run = std::max<int64_t>(1, behind);
  std::vector<T> least(samples.count, T{0}), most(samples.count, T{0});
  const T* numbers = x.data<T>();
  for (int64_t first = 0; first < x.size(); first += run) {
    const int64_t sample = samples.sample_at(first / run % positions);
    T low = least[sample], high = most[sample];
    for (int64_t i = first; i < first + run; ++i) {
      low = std::min(low, numbers[i]);
      high = std::max(high, numbers[i]);
    }
    least[sample] = low;
    most[sample] = high;
  }
  std::vector<DynamicSpan<T>> spans;
  for (int64_t sample = 0; sample < samples.count; ++sample)
    spans.push_back(dynamic_span(least[sample], most[sample]));
  return spans;
}

}  // namespace whyformer
