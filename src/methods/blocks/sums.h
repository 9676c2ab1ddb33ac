// Sums whose additions do not wait for each other, always in the same order.
#pragma once

#include <cstdint>

namespace whyformer {

// Σ term(i) for i from 0 to count - 1, in double.
template <typename Term>
double sum_of(int64_t count, Term term) {
  double parts[4] = {0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int part = 0; part < 4; ++part) parts[part] += term(i + part);
  }
  for (; i < count; ++i) parts[0] += term(i);
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

}  // namespace whyformer
