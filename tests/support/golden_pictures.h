// For tests: what scripts/golden/pictures_golden.py wrote, and the pictures it computed.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <string>

#include "formats/pictures/picture.h"
#include "tests/support/source_folder.h"

namespace whyformer {

inline std::filesystem::path golden_pictures() { return source_folder() / "tests/golden/pictures"; }

// A file, unpacked if it is gzip's.
inline std::string read_packed(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  std::string content;
  char buffer[1 << 14];
  for (int size; file != nullptr && (size = gzread(file, buffer, sizeof(buffer))) > 0;) {
    content.append(buffer, static_cast<size_t>(size));
  }
  if (file != nullptr) gzclose(file);
  return content;
}

// 0: ramps that wrap around, 1: noise, 2: black and white edges.
inline Picture pattern_picture(int kind, int64_t width, int64_t height) {
  Picture picture{width, height, {}};
  picture.pixels.reserve(3 * width * height);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      for (uint32_t c = 0; c < 3; ++c) {
        uint32_t value = x * 374761393u + y * 668265263u + c * 2246822519u;
        value = (value ^ (value >> 13)) * 1274126177u;
        value ^= value >> 16;
        if (kind == 0) value = x * 7 + y * 13 + c * 85;
        if (kind == 2) value = (x / 3 + y / 2 + c) % 2 * 255;
        picture.pixels.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  return picture;
}

}  // namespace whyformer
