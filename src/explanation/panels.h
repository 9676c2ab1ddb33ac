// An explanation as panels: units that are shown together, as a row of tokens or as a grid of
// patches over a picture. Whoever shows or collects scores asks here what shape they have.
#pragma once

#include <string>
#include <vector>

#include "whyformer/explanation.h"

namespace whyformer {

struct Panel {
  int64_t first_unit = 0;
  int64_t units = 0;
  const PictureView* picture = nullptr;  // under a grid of patches; null for a row of tokens
};

// In the order of the units. Their pictures are the explanation's own.
std::vector<Panel> panels_of(const Explanation& explanation);

bool has_grid(const Explanation& explanation);
// Whether units stand for characters of the first text.
bool has_characters(const Explanation& explanation);

// What the units were cut from: a text, two of them, or a picture's name and the text beside it.
std::vector<std::string> input_texts(const Explanation& explanation);

// Throws InvalidInput where scores or maps do not fit the units.
void check_explanation(const Explanation& explanation);

}  // namespace whyformer
