#include "games/coalition_moments.h"

#include <bit>

namespace whyformer {

CoalitionMoments::CoalitionMoments(int64_t players, int64_t outputs)
    : players(players),
      outputs(outputs),
      zz(players * players),
      zy(players * outputs),
      y(outputs),
      expanded_(players) {}

void CoalitionMoments::add(const Coalition& coalition, double scale,
                           std::span<const double> values) {
  add_values(coalition, scale, values);
  for (int64_t a = 0; a < players; ++a) {
    expanded_[a] = coalition[a] ? scale : 0;
    if (!coalition[a]) continue;
    // A whole row of the lower half at a time: hidden players add 0, and the loop has no branches.
    double* row = zz.data() + a * players;
    for (int64_t b = 0; b <= a; ++b) row[b] += expanded_[b];
  }
}

void CoalitionMoments::add_alike(std::span<const Coalition> coalitions,
                                 std::span<const int64_t> rows, double scale,
                                 std::span<const double> values) {
  constexpr size_t kBits = 64;
  const size_t words = (rows.size() + kBits - 1) / kBits;
  std::vector<uint64_t> seen_in(players *
                                words);  // bit i of a player: visible in the i-th of the rows
  for (size_t i = 0; i < rows.size(); ++i) {
    const Coalition& coalition = coalitions[rows[i]];
    add_values(coalition, scale, values.subspan(rows[i] * outputs, outputs));
    for (int64_t a = 0; a < players; ++a) {
      seen_in[a * words + i / kBits] |= static_cast<uint64_t>(coalition[a]) << i % kBits;
    }
  }
  for (int64_t a = 0; a < players; ++a) {
    for (int64_t b = 0; b <= a; ++b) {
      int64_t together = 0;
      for (size_t w = 0; w < words; ++w)
        together += std::popcount(seen_in[a * words + w] & seen_in[b * words + w]);
      zz[a * players + b] += scale * static_cast<double>(together);
    }
  }
}

void CoalitionMoments::add_values(const Coalition& coalition, double scale,
                                  std::span<const double> values) {
  weight += scale;
  for (int64_t output = 0; output < outputs; ++output) y[output] += scale * values[output];
  for (int64_t a = 0; a < players; ++a) {
    if (!coalition[a]) continue;
    for (int64_t output = 0; output < outputs; ++output)
      zy[a * outputs + output] += scale * values[output];
  }
}

void CoalitionMoments::add(const CoalitionMoments& other, double scale) {
  weight += scale * other.weight;
  for (size_t i = 0; i < zz.size(); ++i) zz[i] += scale * other.zz[i];
  for (size_t i = 0; i < zy.size(); ++i) zy[i] += scale * other.zy[i];
  for (size_t i = 0; i < y.size(); ++i) y[i] += scale * other.y[i];
}

}  // namespace whyformer
