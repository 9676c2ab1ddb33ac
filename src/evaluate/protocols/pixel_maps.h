// Maps over the pixels of a picture as the model saw it, and the model's answers with pixels
// painted over one by one.
#pragma once

#include "evaluate/ordered_path.h"
#include "evaluate/protocols/protocol.h"

namespace whyformer {

class PixelMaps {
 public:
  // Refers to the run. Throws InvalidInput where the input has no pixels that can be hidden one by
  // one; `protocol` is what needs them.
  PixelMaps(Run& run, const std::string& protocol);

  int64_t pixels() const { return cells_.height * cells_.width; }
  int64_t width() const { return cells_.width; }

  // Scores of units are enlarged bilinearly without corner alignment, so that the middle of a patch
  // has its score; then min-max. Zeros for a constant map.
  std::vector<double> map_of(const ScoredInput& scored) const;

  // Outputs of the model, each with the first `count` pixels of the ranking painted `how`, or all
  // others.
  enum class Painted { kFirst, kRest };
  std::vector<std::vector<double>> answers(const Ranking& ranking, std::span<const int64_t> counts,
                                           Painted painted, const std::string& how) const;

 private:
  Run& run_;
  Cells cells_;
  int64_t first_unit_ = 0, rows_ = 0, columns_ = 0;  // of the grid of units
};

}  // namespace whyformer
