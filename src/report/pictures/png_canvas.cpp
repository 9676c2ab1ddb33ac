// PNG by Pango and Cairo: the machine's fonts, with Chinese, Arabic and emoji where it has them.
#include <fmt/format.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <memory>

#include "report/pictures/canvas.h"
#include "whyformer/error.h"

namespace whyformer::report {
namespace {

constexpr double kResolution = 2;

template <auto Release>
struct Releaser {
  template <typename T>
  void operator()(T* object) const {
    Release(object);
  }
};
using Surface = std::unique_ptr<cairo_surface_t, Releaser<cairo_surface_destroy>>;
using CairoContext = std::unique_ptr<cairo_t, Releaser<cairo_destroy>>;
using FontMap = std::unique_ptr<PangoFontMap, Releaser<g_object_unref>>;
using FontContext = std::unique_ptr<PangoContext, Releaser<g_object_unref>>;
using TextLayout = std::unique_ptr<PangoLayout, Releaser<g_object_unref>>;
using Font = std::unique_ptr<PangoFontDescription, Releaser<pango_font_description_free>>;

cairo_status_t append(void* out, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

void expect_success(cairo_status_t status, const std::string& doing) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw Error(fmt::format("{}: Cairo says {}", doing, cairo_status_to_string(status)));
}

Surface rgb_surface(int width, int height) {
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  expect_success(cairo_surface_status(surface.get()),
                 fmt::format("making a picture of {} x {} pixels", width, height));
  return surface;
}

Surface surface_of(const CellImage& image) {
  Surface surface = rgb_surface(image.columns, image.rows);
  unsigned char* pixels = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (int row = 0; row < image.rows; ++row) {
    auto* line = reinterpret_cast<uint32_t*>(pixels + static_cast<ptrdiff_t>(row) * stride);
    for (int column = 0; column < image.columns; ++column) {
      const size_t cell = static_cast<size_t>(row) * static_cast<size_t>(image.columns) +
                          static_cast<size_t>(column);
      const Colour colour = image.colours[image.levels[cell]];
      line[column] = static_cast<uint32_t>(colour.red << 16 | colour.green << 8 | colour.blue);
    }
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

Surface surface_of(const Raster& raster) {
  Surface surface = rgb_surface(static_cast<int>(raster.width), static_cast<int>(raster.height));
  unsigned char* pixels = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  const uint8_t* rgb = raster.rgb.data();
  for (int64_t row = 0; row < raster.height; ++row) {
    auto* line = reinterpret_cast<uint32_t*>(pixels + row * stride);
    for (int64_t column = 0; column < raster.width; ++column, rgb += 3) {
      line[column] = static_cast<uint32_t>(rgb[0] << 16 | rgb[1] << 8 | rgb[2]);
    }
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

class PngCanvas final : public Canvas {
 public:
  PngCanvas(double width, double height)
      : surface_(rgb_surface(static_cast<int>(width * kResolution),
                             static_cast<int>(height * kResolution))),
        cairo_(cairo_create(surface_.get())),
        font_map_(pango_cairo_font_map_new()),
        fonts_(pango_font_map_create_context(font_map_.get())) {
    cairo_scale(cairo_.get(), kResolution, kResolution);
    cairo_set_line_width(cairo_.get(), 1);
    pango_cairo_update_context(cairo_.get(), fonts_.get());
  }

  void rectangle(const Box& box, Colour colour) override {
    ink(colour);
    cairo_rectangle(cairo_.get(), box.x, box.y, box.width, box.height);
    cairo_fill(cairo_.get());
  }

  void circle(double x, double y, double radius, Colour colour) override {
    ink(colour);
    cairo_new_sub_path(cairo_.get());
    cairo_arc(cairo_.get(), x, y, radius, 0, 2 * G_PI);
    cairo_fill(cairo_.get());
  }

  void line(double x1, double y1, double x2, double y2, Colour colour) override {
    ink(colour);
    cairo_move_to(cairo_.get(), x1, y1);
    cairo_line_to(cairo_.get(), x2, y2);
    cairo_stroke(cairo_.get());
  }

  void text(double x, double y, std::string_view text, const TextStyle& style) override {
    const TextLayout layout(pango_layout_new(fonts_.get()));
    const Font font(pango_font_description_new());
    pango_font_description_set_family(font.get(), "Noto Sans, DejaVu Sans, sans-serif");
    pango_font_description_set_absolute_size(font.get(), style.size * PANGO_SCALE);
    if (style.bold) pango_font_description_set_weight(font.get(), PANGO_WEIGHT_BOLD);
    pango_layout_set_font_description(layout.get(), font.get());
    pango_layout_set_single_paragraph_mode(layout.get(), TRUE);
    pango_layout_set_text(layout.get(), text.data(), static_cast<int>(text.size()));
    int width = 0;
    int height = 0;
    pango_layout_get_size(layout.get(), &width, &height);
    const double share = style.anchor == Anchor::kStart    ? 0
                         : style.anchor == Anchor::kMiddle ? 0.5
                                                           : 1;
    cairo_save(cairo_.get());
    cairo_translate(cairo_.get(), x, y);
    if (style.upward) cairo_rotate(cairo_.get(), -G_PI / 2);
    cairo_move_to(cairo_.get(), -share * width / PANGO_SCALE, -0.5 * height / PANGO_SCALE);
    ink(style.colour);
    pango_cairo_show_layout(cairo_.get(), layout.get());
    cairo_restore(cairo_.get());
  }

  void cells(const Box& box, const CellImage& image) override {
    const bool enlarged = box.width * kResolution >= image.columns;
    place(box, surface_of(image), enlarged ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
  }

  void picture(const Box& box, const Raster& raster) override {
    place(box, surface_of(raster), CAIRO_FILTER_GOOD);
  }

  std::string finish() override {
    std::string file;
    expect_success(cairo_status(cairo_.get()), "drawing a picture");
    expect_success(cairo_surface_write_to_png_stream(surface_.get(), append, &file),
                   "writing a PNG");
    return file;
  }

 private:
  void place(const Box& box, const Surface& image, cairo_filter_t filter) {
    const int width = cairo_image_surface_get_width(image.get());
    const int height = cairo_image_surface_get_height(image.get());
    cairo_save(cairo_.get());
    cairo_translate(cairo_.get(), box.x, box.y);
    cairo_scale(cairo_.get(), box.width / width, box.height / height);
    cairo_set_source_surface(cairo_.get(), image.get(), 0, 0);
    // Without it the edges of an enlarged picture fade into the paper.
    cairo_pattern_set_extend(cairo_get_source(cairo_.get()), CAIRO_EXTEND_PAD);
    cairo_pattern_set_filter(cairo_get_source(cairo_.get()), filter);
    cairo_rectangle(cairo_.get(), 0, 0, width, height);
    cairo_fill(cairo_.get());
    cairo_restore(cairo_.get());
  }

  void ink(Colour colour) {
    cairo_set_source_rgb(cairo_.get(), colour.red / 255.0, colour.green / 255.0,
                         colour.blue / 255.0);
  }

  Surface surface_;
  CairoContext cairo_;
  FontMap font_map_;  // our own, so that its caches go with the picture
  FontContext fonts_;
};

}  // namespace

std::unique_ptr<Canvas> png_canvas(double width, double height) {
  return std::make_unique<PngCanvas>(width, height);
}

}  // namespace whyformer::report
