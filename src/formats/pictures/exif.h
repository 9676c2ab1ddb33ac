// How a camera was held, as its file tells.
#pragma once

#include <optional>
#include <string_view>

#include "formats/pictures/picture.h"

namespace whyformer::pictures {

// EXIF's numbers. The names say what brings the stored pixels upright.
enum class Orientation {
  kUpright = 1,
  kMirror = 2,
  kHalfTurn = 3,
  kFlip = 4,
  kTranspose = 5,
  kQuarterTurnRight = 6,
  kTransverse = 7,
  kQuarterTurnLeft = 8,
};

// The orientation in an EXIF block (a TIFF header and its first directory, perhaps behind
// "Exif\0\0"); nothing if it has none or is damaged, for a picture is worth showing even then.
std::optional<Orientation> exif_orientation(std::string_view block);

// The orientation in an XMP packet.
std::optional<Orientation> xmp_orientation(std::string_view packet);

Picture turned_upright(Picture picture, Orientation orientation);

}  // namespace whyformer::pictures
