#include "report/pictures/picture_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/views/text.h"
#include "report/views/view.h"
#include "whyformer/error.h"

namespace whyformer::report {
namespace {

constexpr double kLargestSheet = 16000;  // Cairo's pictures end at 32767 pixels, two for each
constexpr Colour kMiddlingGrey{128, 128, 128};

}  // namespace

std::unique_ptr<Canvas> make_sheet(PictureFormat format, double width, double height) {
  if (width > kLargestSheet || height > kLargestSheet) {
    throw InvalidInput(fmt::format(
        "drawing pictures side by side: a sheet of {:.0f} x {:.0f} is too large; ask for fewer "
        "classes or methods",
        width, height));
  }
  std::unique_ptr<Canvas> canvas = make_canvas(format, width, height);
  canvas->rectangle({0, 0, width, height}, kLightPalette.paper);
  return canvas;
}

Box panel_size(const Raster& raster, double side) {
  const double scale = side / static_cast<double>(std::max(raster.width, raster.height));
  return {0, 0, static_cast<double>(raster.width) * scale,
          static_cast<double>(raster.height) * scale};
}

void colour_bar(Canvas& canvas, const Box& panel, const Heat& heat, double opacity) {
  const double y = panel.y + panel.height + 14;
  if (!(heat.high > heat.low)) {
    canvas.text(panel.x, y, "the same everywhere", kFaintText);
    return;
  }
  const double scale = std::max(std::abs(heat.low), std::abs(heat.high));
  const std::string low = format_score(heat.low, scale, heat.kind);
  const std::string high = format_score(heat.high, scale, heat.kind);
  const double left = text_width(low, 11) + 6;
  const double right = text_width(high, 11) + 6;
  CellImage ramp{256, 1, {}, {}};
  for (int i = 0; i < 256; ++i) {
    const double share = i / 255.0;
    const double strength = heat.kind == ScoreKind::kSigned ? 2 * share - 1 : share;
    ramp.levels.push_back(static_cast<uint8_t>(i));
    ramp.colours[static_cast<size_t>(i)] = mix(kMiddlingGrey, overlay_colour(strength, heat.kind),
                                               opacity * overlay_opacity(strength));
  }
  canvas.text(panel.x, y, low, kFaintText);
  if (panel.width - left - right > 20) {
    canvas.cells({panel.x + left, y - 4, panel.width - left - right, 8}, ramp);
  }
  TextStyle end = kFaintText;
  end.anchor = Anchor::kEnd;
  canvas.text(panel.x + panel.width, y, high, end);
}

void wrapped_text(Canvas& canvas, double y, double width, const std::string& text) {
  const double room = width - 2 * kSheetMargin;
  if (text_width(text, 11) <= room) {
    canvas.text(kSheetMargin, y, text, kFaintText);
    return;
  }
  size_t cut = text.rfind(". ", text.size() / 2 + 20);
  cut = cut == std::string::npos ? text.size() : cut + 1;
  canvas.text(kSheetMargin, y, fitted(text.substr(0, cut), room, 11), kFaintText);
  if (cut < text.size()) {
    canvas.text(kSheetMargin, y + 16, fitted(text.substr(cut + 1), room, 11), kFaintText);
  }
}

}  // namespace whyformer::report
