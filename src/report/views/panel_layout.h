// Explanations of one input, panel by panel: reports draw a row of tokens as texts are drawn, and a
// grid of patches over its picture, whatever the input was.
#pragma once

#include <span>
#include <vector>

#include "explanation/panels.h"

namespace whyformer::report {

// Of each explanation the part that a panel shows: its units with their scores, maps and texts. All
// parts keep what concerns the whole, such as the target.
struct PanelLayout {
  std::span<const Explanation> whole;  // one for each target
  std::vector<Explanation> tokens;     // the rows of tokens; empty where there are none
  std::vector<Explanation> grids;      // the grids of patches; empty where there are none

  const PictureView& picture() const { return *grids.front().picture; }  // under every grid
};

PanelLayout layout_of(std::span<const Explanation> explanations);

}  // namespace whyformer::report
