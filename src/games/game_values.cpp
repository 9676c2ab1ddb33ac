#include "whyformer/games.h"

namespace whyformer {

std::vector<double> additivity_gaps(const GameValues& values) {
  const size_t outputs = values.base.size();
  std::vector<double> gaps(outputs);
  for (size_t output = 0; output < outputs; ++output) {
    double sum = values.base[output];
    for (size_t at = output; at < values.values.size(); at += outputs) sum += values.values[at];
    gaps[output] = sum - values.full[output];
  }
  return gaps;
}

}  // namespace whyformer
