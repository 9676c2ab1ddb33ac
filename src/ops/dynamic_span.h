// How ONNX rounds to unsigned 8 bits that span what the numbers span, 0 included.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace whyformer {

template <typename T>
struct DynamicSpan {
  T step, zero;
};

template <typename T>
DynamicSpan<T> dynamic_span(std::span<const T> numbers) {
  T least = 0, most = 0;
  for (const T number : numbers) {
    least = std::min(least, number);
    most = std::max(most, number);
  }
  const T step = least == most ? T{1} : (most - least) / 255;
  return {step, std::nearbyint(std::clamp(-least / step, T{0}, T{255}))};
}

}  // namespace whyformer
