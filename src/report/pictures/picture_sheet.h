// What sheets of panels over one picture share.
#pragma once

#include <memory>
#include <string>

#include "report/pictures/canvas.h"
#include "report/views/heat_overlay.h"

namespace whyformer::report {

constexpr double kSheetMargin = 24;
constexpr double kPanelGap = 18;
constexpr double kPanelSide = 224;  // the longer side of a picture
inline const TextStyle kFaintText{.size = 11, .colour = kLightPalette.faint_ink};

// A sheet of white paper; throws InvalidInput where it would be larger than pictures can be.
std::unique_ptr<Canvas> make_sheet(PictureFormat format, double width, double height);

// The size of a panel whose longer side is `side`, at 0, 0.
Box panel_size(const Raster& raster, double side);

// The colours of the heat over a middling grey, with the scores at their ends, below the panel.
void colour_bar(Canvas& canvas, const Box& panel, const Heat& heat, double opacity);

// Text in up to two lines within the margins.
void wrapped_text(Canvas& canvas, double y, double width, const std::string& text);

}  // namespace whyformer::report
