// A sheet to draw on, as SVG or PNG. Lengths are CSS pixels; a PNG has two of its own for each.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "report/views/palette.h"
#include "report/views/raster.h"
#include "whyformer/report.h"

namespace whyformer::report {

struct Box {
  double x, y, width, height;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 12;
  Colour colour = kLightPalette.ink;
  Anchor anchor = Anchor::kStart;
  bool bold = false;
  bool upward = false;  // turned by a quarter, read from below
};

// A picture of coloured cells, one byte each.
struct CellImage {
  int columns = 0;
  int rows = 0;
  std::vector<uint8_t> levels;
  std::array<Colour, 256> colours = {};
};

class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void rectangle(const Box& box, Colour colour) = 0;
  virtual void circle(double x, double y, double radius, Colour colour) = 0;
  virtual void line(double x1, double y1, double x2, double y2, Colour colour) = 0;
  // One line of text; `y` is the middle of its height (turned text: `x` of its width).
  virtual void text(double x, double y, std::string_view text, const TextStyle& style) = 0;
  virtual void cells(const Box& box, const CellImage& image) = 0;  // cells keep sharp edges
  virtual void picture(const Box& box, const Raster& raster) = 0;
  virtual std::string finish() = 0;
};

std::unique_ptr<Canvas> svg_canvas(double width, double height);
std::unique_ptr<Canvas> png_canvas(double width, double height);
std::unique_ptr<Canvas> make_canvas(PictureFormat format, double width, double height);

// A guess of the width of text, for layout: fonts differ between machines.
double text_width(std::string_view text, double size);

// The text cut so that it should fit into the width.
std::string fitted(std::string_view text, double width, double size);

}  // namespace whyformer::report
