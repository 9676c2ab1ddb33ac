#include "report/pictures/canvas.h"

#include <algorithm>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

constexpr double kColumnWidth = 0.62;  // of the font size, a mean over sans-serif fonts

}  // namespace

std::unique_ptr<Canvas> make_canvas(PictureFormat format, double width, double height) {
  return format == PictureFormat::kSvg ? svg_canvas(width, height) : png_canvas(width, height);
}

double text_width(std::string_view text, double size) {
  return columns(text) * size * kColumnWidth;
}

std::string fitted(std::string_view text, double width, double size) {
  return shortened(text, std::max(1, static_cast<int>(width / (size * kColumnWidth))));
}

}  // namespace whyformer::report
