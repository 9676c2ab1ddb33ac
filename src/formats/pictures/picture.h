// Pictures from JPEG, PNG and WebP files, with the pixels that PIL's Image.open,
// ImageOps.exif_transpose and convert("RGB") give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace whyformer {

// Red, green and blue of each pixel, row after row from the top.
struct Picture {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels;  // 3 · width · height

  const uint8_t* row(int64_t y) const { return pixels.data() + 3 * width * y; }
  uint8_t* row(int64_t y) { return pixels.data() + 3 * width * y; }
};

// Sizes which a file's header may claim; anything beyond is refused before memory is taken for it.
// Decoding holds the pixels (3 bytes each, 600 MB at most) and, for progressive JPEGs and
// animations, at most `max_memory` beside them.
struct PictureLimits {
  int64_t longest_side = 65'535;
  int64_t max_pixels = 200'000'000;
  int64_t max_memory = int64_t{2} << 30;
};

// The kind is told by the bytes, never by the name. Transparency is dropped, not blended;
// animations give their first frame; 16-bit colours keep their upper 8 bits, but 16-bit greys are
// cut off at 255. Throws FileError that names the file.
Picture decode_picture(std::span<const std::byte> file, std::string_view name,
                       const PictureLimits& limits = {});
// Whether bytes begin as the files of one of these kinds do.
bool begins_like_picture(std::span<const std::byte> file);
Picture read_picture(const std::filesystem::path& path, const PictureLimits& limits = {});

}  // namespace whyformer
