// A binary tree over the patches of a picture.
#pragma once

#include "whyformer/games.h"

namespace whyformer {

// Players are patches, row by row. A part is split across its longer side, rows first; of an odd side the part nearer
// the origin gets one more, as the image masker of the shap package splits pixels.
PlayerTree grid_tree(int64_t rows, int64_t columns);

}  // namespace whyformer
