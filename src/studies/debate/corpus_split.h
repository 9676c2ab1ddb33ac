// Inputs to train on, to choose by, and to judge on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace whyformer {

struct CorpusSplit {
  std::vector<int64_t> train, dev, test;
};

// 60, 20 and 20 % in an order that the seed draws.
inline CorpusSplit split_corpus(int64_t count, int64_t seed) {
  const CounterRandom random(seed, "debate/split", 0);
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t i = count - 1; i > 0; --i) {
    const auto j = static_cast<int64_t>(random.uniform(i) * static_cast<double>(i + 1));
    std::swap(order[i], order[std::min(i, j)]);
  }
  const int64_t tested = count / 5;
  const auto first = order.begin(), dev = first + tested, train = dev + tested;
  return {{train, order.end()}, {dev, train}, {first, dev}};
}

}  // namespace whyformer
