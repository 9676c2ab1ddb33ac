#include "formats/pictures/exif.h"

#include <gtest/gtest.h>

#include <string>

namespace whyformer::pictures {
namespace {

using namespace std::string_literals;

// One entry: the orientation, as a TIFF type with a count of 1.
std::string little_endian_block(char type, const std::string& value) {
  return "II*\0\x08\0\0\0\x01\0\x12\x01"s + type + "\0\x01\0\0\0"s + value + "\0\0\0\0"s;
}

TEST(Exif, ReadsTheOrientationInBothByteOrders) {
  const std::string little = little_endian_block(3, "\x06\0\0\0"s);
  const std::string big = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0\0\0\0\0"s;
  EXPECT_EQ(exif_orientation(little), Orientation::kQuarterTurnRight);
  EXPECT_EQ(exif_orientation("Exif\0\0"s + little), Orientation::kQuarterTurnRight);
  EXPECT_EQ(exif_orientation(big), Orientation::kQuarterTurnLeft);
}

TEST(Exif, TakesNumbersOfTheTypesThatPilTakes) {
  for (const char type : {3, 4, 8, 9}) {
    EXPECT_EQ(exif_orientation(little_endian_block(type, "\x03\0\0\0"s)), Orientation::kHalfTurn)
        << int{type};
  }
  for (const char type : {0, 1, 2, 7, 13}) {
    EXPECT_EQ(exif_orientation(little_endian_block(type, "\x03\0\0\0"s)), std::nullopt)
        << int{type};
  }
}

TEST(Exif, FindsNothingInDamagedBlocks) {
  const std::string block = little_endian_block(3, "\x06\0\0\0"s);
  for (size_t length = 0; length < block.size() - 6; ++length) {
    EXPECT_EQ(exif_orientation(block.substr(0, length)), std::nullopt) << length;
  }
  for (const char number : {0, 9, 127}) {
    EXPECT_EQ(exif_orientation(little_endian_block(3, number + "\0\0\0"s)), std::nullopt);
  }
  // A directory that lies beyond the end, or claims more entries than there are.
  EXPECT_EQ(exif_orientation("II*\0\xff\xff\xff\xff"s), std::nullopt);
  EXPECT_EQ(exif_orientation("II*\0\x08\0\0\0\xff\xff\x00\x01\x03\0"s), std::nullopt);
}

TEST(Exif, ReadsXmpAttributesAndElements) {
  EXPECT_EQ(xmp_orientation("<a tiff:Orientation=\"3\">"), Orientation::kHalfTurn);
  EXPECT_EQ(xmp_orientation("<tiff:Orientation>8</tiff:Orientation>"),
            Orientation::kQuarterTurnLeft);
  EXPECT_EQ(xmp_orientation("tiff:Orientation tiff:Orientation=\""), std::nullopt);
  EXPECT_EQ(xmp_orientation("tiff:Orientation>9"), std::nullopt);
}

// The corners of  1 2  tell where each pixel went.
//                 3 4
//                 5 6
TEST(Exif, TurnsPicturesUpright) {
  const Picture stored{2, 3, {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6}};
  const auto order = [&](Orientation orientation) {
    const Picture upright = turned_upright(stored, orientation);
    std::string text;
    for (int64_t y = 0; y < upright.height; ++y) {
      for (int64_t x = 0; x < upright.width; ++x)
        text += static_cast<char>('0' + upright.row(y)[3 * x]);
      text += ' ';
    }
    return text;
  };
  EXPECT_EQ(order(Orientation::kUpright), "12 34 56 ");
  EXPECT_EQ(order(Orientation::kMirror), "21 43 65 ");
  EXPECT_EQ(order(Orientation::kHalfTurn), "65 43 21 ");
  EXPECT_EQ(order(Orientation::kFlip), "56 34 12 ");
  EXPECT_EQ(order(Orientation::kTranspose), "135 246 ");
  EXPECT_EQ(order(Orientation::kQuarterTurnRight), "531 642 ");
  EXPECT_EQ(order(Orientation::kTransverse), "642 531 ");
  EXPECT_EQ(order(Orientation::kQuarterTurnLeft), "246 135 ");
}

}  // namespace
}  // namespace whyformer::pictures
