#include "base/numpy_random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "whyformer/error.h"

namespace whyformer {

uint32_t numpy_seed(int64_t seed) {
  if (seed < 0 || seed > 0xFFFFFFFF) {
    throw InvalidInput(
        fmt::format("seed {} is out of range: NumPy's generator takes 0 to 4294967295", seed));
  }
  return static_cast<uint32_t>(seed);
}

double NumpyRandom::uniform() {
  const uint64_t high = words_() >> 5, low = words_() >> 6;
  return static_cast<double>((high << 26) + low) / 9007199254740992.0;
}

double NumpyRandom::normal() {
  if (second_normal_) return *std::exchange(second_normal_, std::nullopt);
  double x1 = 0, x2 = 0, square = 0;
  do {
    x1 = 2 * uniform() - 1;
    x2 = 2 * uniform() - 1;
    square = x1 * x1 + x2 * x2;
  } while (square >= 1 || square == 0);
  const double scale = std::sqrt(-2 * std::log(square) / square);
  second_normal_ = scale * x1;
  return scale * x2;
}

int64_t NumpyRandom::up_to(int64_t largest) {
  if (largest <= 0) return 0;
  uint32_t mask = static_cast<uint32_t>(largest);
  for (int shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
  while (true) {
    const uint32_t drawn = static_cast<uint32_t>(words_()) & mask;
    if (drawn <= largest) return drawn;
  }
}

int64_t NumpyRandom::choose(const std::vector<double>& cumulative) {
  const double u = uniform();
  const auto above = std::upper_bound(
      cumulative.begin(), cumulative.end(), u,
      [&](double value, double entry) { return value < entry / cumulative.back(); });
  return std::min<int64_t>(above - cumulative.begin(), static_cast<int64_t>(cumulative.size()) - 1);
}

std::vector<int64_t> NumpyRandom::permutation(int64_t count) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  shuffle(order);
  return order;
}

}  // namespace whyformer
