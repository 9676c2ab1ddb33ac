// Random orders and subsets of rows.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/random.h"
#include "studies/concepts/cav.h"

namespace whyformer {

// What a draw is for; equal ones give equal draws.
struct Draw {
  int64_t seed = 0;
  std::string_view purpose;
  int64_t instance = 0;
};

// Fisher–Yates. For its first `wanted` places only, which are then a random subset in a random
// order.
inline ExampleRows shuffled(ExampleRows rows, const Draw& draw, int64_t wanted = -1) {
  const CounterRandom random(draw.seed, draw.purpose, draw.instance);
  const auto count = static_cast<int64_t>(rows.size());
  if (wanted < 0) wanted = count;
  for (int64_t i = 0; i < std::min(wanted, count - 1); ++i) {
    const auto other = i + static_cast<int64_t>(random.uniform(i) * static_cast<double>(count - i));
    std::swap(rows[i], rows[std::min(other, count - 1)]);
  }
  return rows;
}

// `wanted` of the rows.
inline ExampleRows drawn(const ExampleRows& rows, int64_t wanted, const Draw& draw) {
  ExampleRows some = shuffled(rows, draw, wanted);
  some.resize(wanted);
  return some;
}

}  // namespace whyformer
