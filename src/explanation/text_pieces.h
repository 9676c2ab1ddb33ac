// The units of an explanation as they stand in the text.
#pragma once

#include <string>
#include <vector>

#include "whyformer/explanation.h"

namespace whyformer {

// A unit as the reader sees it: the stretch of the original text, or the token where there is none.
struct TextPiece {
  std::string gap = {};  // uncovered text before it, mostly blanks
  std::string text = {};
  std::string after = {};  // uncovered rest of its text, on the last piece of a text that was cut
  bool special = false;
  int segment = 0;
};

// One per unit. Beside a grid of patches every piece is the unit's own name.
std::vector<TextPiece> pieces_of(const Explanation& explanation);

}  // namespace whyformer
