#include "formats/pictures/exif.h"

#include <algorithm>
#include <cstdint>

#include "base/parallel.h"

namespace whyformer::pictures {
namespace {

std::optional<Orientation> from_number(uint64_t number) {
  if (number < 1 || number > 8) return std::nullopt;
  return static_cast<Orientation>(number);
}

// Numbers of a TIFF block in its byte order; nothing beyond its end.
class TiffBlock {
 public:
  static std::optional<TiffBlock> open(std::string_view bytes) {
    if (bytes.starts_with(std::string_view("II*\0", 4))) return TiffBlock(bytes, false);
    if (bytes.starts_with(std::string_view("MM\0*", 4))) return TiffBlock(bytes, true);
    return std::nullopt;
  }

  std::optional<uint64_t> number(uint64_t offset, int width) const {
    if (offset > bytes_.size() || bytes_.size() - offset < static_cast<size_t>(width)) {
      return std::nullopt;
    }
    uint64_t value = 0;
    for (int i = 0; i < width; ++i) {
      const int place = big_endian_ ? i : width - 1 - i;
      value = value << 8 | static_cast<uint8_t>(bytes_[offset + place]);
    }
    return value;
  }

 private:
  TiffBlock(std::string_view bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  std::string_view bytes_;
  bool big_endian_;
};

// Bytes of one value of the TIFF types that PIL takes an orientation from: SHORT, LONG and their
// signed kin.
int width_of_type(uint64_t type) {
  switch (type) {
    case 3:
    case 8:
      return 2;
    case 4:
    case 9:
      return 4;
    default:
      return 0;
  }
}

// Where the pixels of the upright picture are found: pixel (x, y) at first + x · right + y · down.
struct PixelOrder {
  int64_t width;
  int64_t height;
  int64_t first;
  int64_t right;
  int64_t down;
};

PixelOrder walk_of(const Picture& picture, Orientation orientation) {
  const int64_t w = picture.width, h = picture.height;
  const int64_t last_column = w - 1, last_row = (h - 1) * w;
  switch (orientation) {
    case Orientation::kMirror:
      return {w, h, last_column, -1, w};
    case Orientation::kHalfTurn:
      return {w, h, last_row + last_column, -1, -w};
    case Orientation::kFlip:
      return {w, h, last_row, 1, -w};
    case Orientation::kTranspose:
      return {h, w, 0, w, 1};
    case Orientation::kQuarterTurnRight:
      return {h, w, last_row, -w, 1};
    case Orientation::kTransverse:
      return {h, w, last_row + last_column, -w, -1};
    case Orientation::kQuarterTurnLeft:
      return {h, w, last_column, w, -1};
    case Orientation::kUpright:
      break;
  }
  return {w, h, 0, 1, w};
}

}  // namespace

std::optional<Orientation> exif_orientation(std::string_view bytes) {
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  constexpr uint64_t kOrientationTag = 0x0112;
  constexpr uint64_t kEntryBytes = 12;
  if (bytes.starts_with(kPrefix)) bytes.remove_prefix(kPrefix.size());
  const auto block = TiffBlock::open(bytes);
  if (!block) return std::nullopt;
  const auto directory = block->number(4, 4);
  if (!directory) return std::nullopt;
  const uint64_t entries = block->number(*directory, 2).value_or(0);
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t entry = *directory + 2 + i * kEntryBytes;
    const auto tag = block->number(entry, 2);
    if (!tag) return std::nullopt;
    if (*tag != kOrientationTag) continue;
    const int width = width_of_type(block->number(entry + 2, 2).value_or(0));
    const auto value = block->number(entry + 8, width);
    return width == 0 || !value ? std::nullopt : from_number(*value);
  }
  return std::nullopt;
}

std::optional<Orientation> xmp_orientation(std::string_view packet) {
  constexpr std::string_view kName = "tiff:Orientation";
  for (size_t at = packet.find(kName); at != packet.npos; at = packet.find(kName, at + 1)) {
    std::string_view rest = packet.substr(at + kName.size());
    if (rest.starts_with("=\"")) {
      rest.remove_prefix(2);
    } else if (rest.starts_with(">")) {
      rest.remove_prefix(1);
    } else {
      continue;
    }
    if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') return from_number(rest[0] - '0');
  }
  return std::nullopt;
}

Picture turned_upright(Picture picture, Orientation orientation) {
  if (orientation == Orientation::kUpright) return picture;
  const PixelOrder walk = walk_of(picture, orientation);
  Picture upright{walk.width, walk.height, std::vector<uint8_t>(picture.pixels.size())};
  // In tiles: one of the two pictures is walked against its rows, and a tile of it stays in cache.
  constexpr int64_t kTile = 32;
  parallel_for((walk.height + kTile - 1) / kTile, 1, [&](int64_t begin, int64_t end) {
    for (int64_t top = begin * kTile; top < std::min(end * kTile, walk.height); top += kTile) {
      for (int64_t left = 0; left < walk.width; left += kTile) {
        for (int64_t y = top; y < std::min(top + kTile, walk.height); ++y) {
          for (int64_t x = left; x < std::min(left + kTile, walk.width); ++x) {
            const int64_t from = walk.first + x * walk.right + y * walk.down;
            std::copy_n(picture.pixels.data() + 3 * from, 3, upright.row(y) + 3 * x);
          }
        }
      }
    }
  });
  return upright;
}

}  // namespace whyformer::pictures
