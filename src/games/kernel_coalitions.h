// The coalitions over which Kernel SHAP fits, drawn as shap 0.51 draws them.
#pragma once

#include <cstdint>
#include <vector>

#include "whyformer/games.h"

namespace whyformer {

struct KernelCoalitions {
  std::vector<Coalition>
      rows;  // those of enumerated sizes first, then drawn ones in order of their first draw

  // One for each enumerated row.
  std::vector<double> enumerated_weights;

  // The drawn rows, again and again as they were drawn: each time adds one share of `drawn_weight`,
  // the weight of all sizes that were not enumerated. Rows appear in order, so a prefix is what a
  // smaller budget had drawn.
  std::vector<int64_t> draws;
  std::vector<double> draw_weights;  // of each draw among the others; empty: all alike
  double drawn_weight = 0;
  std::vector<int64_t>
      pairs;  // of each drawn row: the number of its pair; a complement belongs to its original
  int64_t pair_count = 0;

  int64_t enumerated() const { return static_cast<int64_t>(enumerated_weights.size()); }
  int64_t drawn() const { return static_cast<int64_t>(rows.size()) - enumerated(); }
};

// Of sizes 1 to half the players with those of their complements, in all 1: the weight of all
// coalitions of that size.
std::vector<double> kernel_size_weights(int64_t players);

// A size of which the budget reaches every coalition, and that of their complements.
struct EnumeratedSize {
  int64_t size;
  int64_t subsets;  // of this size, in lexicographic order
  bool paired;      // each is followed by its complement, which has another size
  double row_weight;

  int64_t rows() const { return subsets * (paired ? 2 : 1); }
};
// From single players on.
std::vector<EnumeratedSize> enumerated_sizes(int64_t players, int64_t samples);

// The subset of so many players that has this place in lexicographic order, from 0.
Coalition subset_at(int64_t place, int64_t size, int64_t players);

// The rows that kernel_coalitions draws first, at most so many: all draws of them, none in part.
std::vector<Coalition> first_draws(int64_t players, int64_t samples, uint32_t seed, int64_t rows);

// For at least two players and at most all their 2^players - 2 coalitions.
KernelCoalitions kernel_coalitions(int64_t players, int64_t samples, uint32_t seed);

// All coalitions but the empty and the whole one, saturated at 2^30 as shap does.
int64_t proper_coalitions(int64_t players);

}  // namespace whyformer
