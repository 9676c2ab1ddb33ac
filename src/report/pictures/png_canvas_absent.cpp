// Stands in for png_canvas.cpp where Pango was not found when building.
#include "report/pictures/canvas.h"
#include "whyformer/error.h"

namespace whyformer::report {

std::unique_ptr<Canvas> png_canvas(double, double) {
  throw Error(
      "drawing a PNG: this build has no Pango; ask for SVG, or build again with pangocairo "
      "installed");
}

}  // namespace whyformer::report
