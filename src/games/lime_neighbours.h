// The coalitions around the whole input that LIME fits to, drawn as lime 0.2.0.1 draws them.
#pragma once

#include <cstdint>
#include <vector>

#include "whyformer/games.h"

namespace whyformer {

struct LimeRows {
  std::vector<Coalition> distinct;  // in order of their first draw; the first is the whole input
  std::vector<double> weights;      // of a distinct one, per draw
  std::vector<int64_t> draws;       // which of the distinct ones, for each row
};

LimeRows lime_rows(const LimeOptions& options, int64_t players);

}  // namespace whyformer
