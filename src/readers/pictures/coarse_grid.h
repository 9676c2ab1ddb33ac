// A grid with every other cell of a finer one in each direction, and P, which interpolates linearly
// between its cells.
#pragma once

#include "readers/pictures/grid_equations.h"

namespace whyformer {

// Pᵀ A P.
GridEquations coarser(const GridEquations& fine);

// Coarse b = Pᵀ residual.
void restrict_to(const GridEquations& coarse, GridValues& b, const GridEquations& fine,
                 const GridValues& residual);

// x += P · coarse x.
void add_interpolated(const GridEquations& fine, GridValues& x, const GridEquations& coarse,
                      const GridValues& coarse_x);

}  // namespace whyformer
