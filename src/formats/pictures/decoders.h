// What picture.cpp knows of the three kinds of file.
#pragma once

#include <span>
#include <string_view>

#include "formats/pictures/exif.h"
#include "formats/pictures/picture.h"

namespace whyformer::pictures {

struct Source {
  std::span<const std::byte> file;
  std::string_view name;  // for messages
  PictureLimits limits;

  const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(file.data()); }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(file.data()), file.size()};
  }
};

// Pixels as they lie in the file, and how they are to be turned.
struct Decoded {
  Picture picture;
  Orientation orientation = Orientation::kUpright;
};

Decoded decode_jpeg(const Source& source);
Decoded decode_png(const Source& source);
Decoded decode_webp(const Source& source);

// A black picture of a size that passed the limits; throws FileError for any other.
Picture checked_picture(const Source& source, int64_t width, int64_t height);

// Throws FileError: "'cat.png' cannot be decoded as PNG: <problem>; …".
[[noreturn]] void throw_undecodable(const Source& source, std::string_view kind,
                                    std::string_view problem);

}  // namespace whyformer::pictures
