// A picture that was compared with a text: reports draw the text as texts are drawn, and the
// picture as pictures are.
#pragma once

#include <span>
#include <vector>

#include "whyformer/explanation.h"

namespace whyformer::report {

bool is_pair(const Explanation& explanation);

// The units of one side with their scores; both sides keep what concerns the whole, such as the
// target.
Explanation text_side(const Explanation& explanation);
Explanation picture_side(const Explanation& explanation);

// Of every explanation that is of a pair; none where there are none.
std::vector<Explanation> text_sides(std::span<const Explanation> explanations);
// Explanations of pictures alone stay as they are.
std::vector<Explanation> picture_sides(std::span<const Explanation> explanations);

}  // namespace whyformer::report
