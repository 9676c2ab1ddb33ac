#include "base/random.h"

#include <cmath>
#include <numbers>

namespace whyformer {
namespace {

// The finaliser of SplitMix64 (Steele et al., OOPSLA 2014): every input bit changes half the
// output.
uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

CounterRandom::CounterRandom(int64_t seed, std::string_view purpose, int64_t instance)
    : key_(mix(static_cast<uint64_t>(seed))) {
  for (const char c : purpose) key_ = mix(key_ ^ static_cast<unsigned char>(c));
  key_ = mix(key_ ^ static_cast<uint64_t>(instance));
}

uint64_t CounterRandom::bits(uint64_t counter) const { return mix(key_ + mix(counter)); }

double CounterRandom::uniform(int64_t draw) const {
  return (static_cast<double>(bits(static_cast<uint64_t>(draw)) >> 11) + 0.5) * 0x1p-53;
}

int64_t CounterRandom::seed(int64_t draw) const {
  return static_cast<int64_t>(bits(static_cast<uint64_t>(draw)) >> 1);
}

// Box–Muller, two uniforms per normal.
double CounterRandom::normal(int64_t draw) const {
  return std::sqrt(-2 * std::log(uniform(2 * draw))) *
         std::cos(2 * std::numbers::pi * uniform(2 * draw + 1));
}

}  // namespace whyformer
