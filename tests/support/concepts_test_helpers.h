// Activations and gradients for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "studies/concepts/cav.h"
#include "studies/concepts/gram.h"

namespace whyformer {

// Rows of doubles that floats hold exactly.
struct TestRows {
  int64_t rows = 0, width = 0;
  std::vector<float> numbers = {};

  const float* row(int64_t i) const { return numbers.data() + i * width; }
  FloatRows view() const { return {numbers.data(), rows, width}; }
};

inline TestRows normal_rows(int64_t rows, int64_t width, const std::string& purpose,
                            int64_t instance = 0) {
  const CounterRandom random(3, purpose, instance);
  TestRows result{rows, width, std::vector<float>(rows * width)};
  for (int64_t i = 0; i < rows * width; ++i)
    result.numbers[i] = static_cast<float>(random.normal(i));
  return result;
}

inline ExampleRows numbered(int64_t first, int64_t count) {
  ExampleRows rows;
  for (int64_t i = 0; i < count; ++i) rows.push_back(first + i);
  return rows;
}

// w = Σ a_i x_i, from the rows themselves.
inline std::vector<double> weights_of(const Cav& cav, const TestRows& x) {
  std::vector<double> w(x.width, 0);
  for (size_t i = 0; i < cav.rows.size(); ++i) {
    for (int64_t j = 0; j < x.width; ++j) w[j] += cav.weights[i] * x.row(cav.rows[i])[j];
  }
  return w;
}

}  // namespace whyformer
