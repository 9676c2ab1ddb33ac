#include "report/pictures/png_image.h"

#include <fmt/format.h>
#include <png.h>

#include "whyformer/error.h"

namespace whyformer::report {

namespace {

// libpng's simplified interface reports errors by its result instead of jumping over destructors.
std::vector<uint8_t> written(::png_image& header, const uint8_t* pixels, const uint8_t* map) {
  header.version = PNG_IMAGE_VERSION;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::vector<uint8_t> file(size);
  if (png_image_write_to_memory(&header, file.data(), &size, 0, pixels, 0, map) == 0) {
    throw Error(fmt::format("writing a PNG of {} x {} pixels: libpng says {}", header.width,
                            header.height, header.message));
  }
  file.resize(size);
  return file;
}

}  // namespace

std::vector<uint8_t> png_image(const CellImage& cells) {
  ::png_image header{};
  header.width = static_cast<png_uint_32>(cells.columns);
  header.height = static_cast<png_uint_32>(cells.rows);
  header.format = PNG_FORMAT_RGB_COLORMAP;
  header.colormap_entries = static_cast<png_uint_32>(cells.colours.size());
  std::vector<uint8_t> map;
  for (const Colour colour : cells.colours) {
    map.insert(map.end(), {colour.red, colour.green, colour.blue});
  }
  return written(header, cells.levels.data(), map.data());
}

std::vector<uint8_t> png_image(const Raster& raster) {
  ::png_image header{};
  header.width = static_cast<png_uint_32>(raster.width);
  header.height = static_cast<png_uint_32>(raster.height);
  header.format = PNG_FORMAT_RGB;
  return written(header, raster.rgb.data(), nullptr);
}

}  // namespace whyformer::report
