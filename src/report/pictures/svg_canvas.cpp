#include <fmt/format.h>

#include <algorithm>

#include "report/pages/base64.h"
#include "report/pictures/canvas.h"
#include "report/pictures/png_image.h"
#include "report/views/text.h"

namespace whyformer::report {
namespace {

const char* anchor_name(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart:
      return "start";
    case Anchor::kMiddle:
      return "middle";
    case Anchor::kEnd:
      break;
  }
  return "end";
}

// Some viewers smooth enlarged images whatever they are told. Cells of many pixels stay sharp
// there.
CellImage enlarged(const CellImage& image) {
  constexpr int kEnough = 256;
  const int factor = std::max(1, kEnough / std::max(image.columns, image.rows));
  CellImage large{image.columns * factor, image.rows * factor, {}, image.colours};
  for (int row = 0; row < large.rows; ++row) {
    for (int column = 0; column < large.columns; ++column) {
      large.levels.push_back(
          image.levels[static_cast<size_t>(row / factor * image.columns + column / factor)]);
    }
  }
  return large;
}

class SvgCanvas final : public Canvas {
 public:
  SvgCanvas(double width, double height)
      : svg_(fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" "
            "viewBox=\"0 0 {0:g} {1:g}\" font-family=\"system-ui, 'Noto Sans', 'DejaVu Sans', "
            "sans-serif\">\n",
            width, height)) {}

  void rectangle(const Box& box, Colour colour) override {
    svg_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n", box.x,
        box.y, box.width, box.height, css(colour));
  }

  void circle(double x, double y, double radius, Colour colour) override {
    svg_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" fill=\"{}\"/>\n", x, y,
                        radius, css(colour));
  }

  void line(double x1, double y1, double x2, double y2, Colour colour) override {
    svg_ += fmt::format(
        "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\"/>\n", x1, y1,
        x2, y2, css(colour));
  }

  void text(double x, double y, std::string_view text, const TextStyle& style) override {
    // Viewers disagree on dominant-baseline; a third of the size below the middle looks the same
    // everywhere.
    const double shift = 0.35 * style.size;
    const std::string place =
        style.upward
            ? fmt::format("transform=\"translate({:.2f} {:.2f}) rotate(-90)\"", x + shift, y)
            : fmt::format("x=\"{:.2f}\" y=\"{:.2f}\"", x, y + shift);
    svg_ += fmt::format(
        "<text {} font-size=\"{:g}\" fill=\"{}\" text-anchor=\"{}\"{} "
        "xml:space=\"preserve\">{}</text>\n",
        place, style.size, css(style.colour), anchor_name(style.anchor),
        style.bold ? " font-weight=\"bold\"" : "", escape_markup(text));
  }

  void cells(const Box& box, const CellImage& image) override {
    svg_ += fmt::format(
        "<image x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" "
        "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
        box.x, box.y, box.width, box.height, base64(png_image(enlarged(image))));
  }

  void picture(const Box& box, const Raster& raster) override {
    svg_ += fmt::format(
        "<image x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "preserveAspectRatio=\"none\" href=\"data:image/png;base64,{}\"/>\n",
        box.x, box.y, box.width, box.height, base64(png_image(raster)));
  }

  std::string finish() override { return std::move(svg_) + "</svg>\n"; }

 private:
  std::string svg_;
};

}  // namespace

std::unique_ptr<Canvas> svg_canvas(double width, double height) {
  return std::make_unique<SvgCanvas>(width, height);
}

}  // namespace whyformer::report
