#include "games/coalition_moments.h"

namespace whyformer {

CoalitionMoments::CoalitionMoments(int64_t players, int64_t outputs)
    : players(players),
      outputs(outputs),
      zz(players * players),
      zy(players * outputs),
      y(outputs),
      expanded_(players) {}

void CoalitionMoments::add(const Coalition& coalition, double scale, std::span<const double> values) {
  weight += scale;
  for (int64_t output = 0; output < outputs; ++output) y[output] += scale * values[output];
  for (int64_t a = 0; a < players; ++a) {
    expanded_[a] = coalition[a] ? scale : 0;
    if (!coalition[a]) continue;
    // A whole row of the lower half at a time: hidden players add 0, and the loop has no branches.
    double* row = zz.data() + a * players;
    for (int64_t b = 0; b <= a; ++b) row[b] += expanded_[b];
    for (int64_t output = 0; output < outputs; ++output) {
      zy[a * outputs + output] += scale * values[output];
    }
  }
}

void CoalitionMoments::add(const CoalitionMoments& other, double scale) {
  weight += scale * other.weight;
  for (size_t i = 0; i < zz.size(); ++i) zz[i] += scale * other.zz[i];
  for (size_t i = 0; i < zy.size(); ++i) zy[i] += scale * other.zy[i];
  for (size_t i = 0; i < y.size(); ++i) y[i] += scale * other.y[i];
}

}  // namespace whyformer
