// Comparing lists of numbers in tests of games.
#pragma once

#include <gmock/gmock.h>

#include <vector>

namespace whyformer {

inline auto near(const std::vector<double>& expected, double tolerance) {
  return ::testing::Pointwise(::testing::DoubleNear(tolerance), expected);
}

}  // namespace whyformer
