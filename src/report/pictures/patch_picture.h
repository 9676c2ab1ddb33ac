// One grid of effects as a picture.
#pragma once

#include <string>

#include "report/views/patch_view.h"
#include "whyformer/report.h"

namespace whyformer::report {

std::string patch_grid_picture(const PatchTable& table, PictureFormat format,
                               const Palette& palette = kLightPalette);

}  // namespace whyformer::report
