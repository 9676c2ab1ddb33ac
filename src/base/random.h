// Random numbers from counters: a draw depends only on what it is for, never on what was drawn
// before, so results do not change with threads, batches or order.
#pragma once

#include <cstdint>
#include <string_view>

namespace whyformer {

class CounterRandom {
 public:
  // Draws for one purpose, such as ("smooth-grad", sample 3).
  CounterRandom(int64_t seed, std::string_view purpose, int64_t instance);

  double uniform(int64_t draw) const;  // in (0, 1)
  double normal(int64_t draw) const;   // mean 0, deviation 1
  int64_t seed(int64_t draw) const;    // of other draws

 private:
  uint64_t bits(uint64_t counter) const;
  uint64_t key_;
};

}  // namespace whyformer
