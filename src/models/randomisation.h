// Other weights in place of a model's own, as sanity checks of explanations need them.
#pragma once

#include <compare>
#include <cstdint>

namespace whyformer {

// Which weights are replaced: steps are counted from the output (see ModelWeights).
struct Randomisation {
  bool cascading = true;  // those of all steps up to this one, or of this one alone
  int64_t step = 0;
  int64_t seed = 0;

  bool includes(int64_t other) const { return cascading ? other <= step : other == step; }
  auto operator<=>(const Randomisation&) const = default;
};

}  // namespace whyformer
