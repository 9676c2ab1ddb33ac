#pragma once

#include <cstdint>
#include <vector>

#include "report/pictures/canvas.h"

namespace whyformer::report {

// A PNG file with one pixel per cell and a palette of 256 colours.
std::vector<uint8_t> png_image(const CellImage& image);

std::vector<uint8_t> png_image(const Raster& raster);

}  // namespace whyformer::report
