// A force bar on a sheet.
#pragma once

#include "report/pictures/canvas.h"
#include "report/views/estimate_view.h"

namespace whyformer::report {

constexpr double kForceHeight = 66;

// Base and value are marked above the bar, ticks stand below it, words inside where they fit.
void draw_force(Canvas& canvas, const Box& box, const ForceBar& bar);

}  // namespace whyformer::report
