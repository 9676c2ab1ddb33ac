// For sample explanations.
#pragma once

#include <cstdint>

namespace whyformer::report {

// A small linear congruential generator: the same numbers on every platform.
class Sequence {
 public:
  explicit Sequence(uint64_t seed) : state_(seed) {}
  double next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }

 private:
  uint64_t state_;
};

}  // namespace whyformer::report
