#include "formats/pictures/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/bytes.h"
#include "tests/support/golden_pictures.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::string_literals;

Picture decode(const std::string& file, const PictureLimits& limits = {}) {
  return decode_picture(std::as_bytes(std::span(file)), "cat.gif", limits);
}

std::string complaint(const std::string& file, const PictureLimits& limits = {}) {
  try {
    decode(file, limits);
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

// The files are not packed, so they come as they are.
std::string golden(const std::string& name) {
  return read_packed(golden_pictures() / "files" / name);
}

std::string big_endian(uint32_t number, int width) {
  std::string text;
  for (int i = width - 1; i >= 0; --i) text += static_cast<char>(number >> (8 * i));
  return text;
}

std::string png_claiming(uint32_t width, uint32_t height) {
  std::string file = golden("rgb_8.png");
  file.replace(16, 8, big_endian(width, 4) + big_endian(height, 4));
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(file.data()) + 12, 17);
  return file.replace(29, 4, big_endian(static_cast<uint32_t>(crc), 4));
}

std::string jpeg_claiming(uint32_t width, uint32_t height) {
  std::string file = golden("rgb_444.jpg");
  const size_t frame = file.find("\xff\xc0");
  return file.replace(frame + 5, 4, big_endian(height, 2) + big_endian(width, 2));
}

// A VP8L header stores sizes less one in 14 bits each.
std::string webp_claiming(uint32_t width, uint32_t height) {
  std::string file = golden("lossless.webp");
  const uint32_t sizes = (width - 1) | (height - 1) << 14;
  for (int i = 0; i < 3; ++i) file[21 + i] = static_cast<char>(sizes >> (8 * i));
  file[24] = static_cast<char>((file[24] & 0xf0) | (sizes >> 24 & 0x0f));
  return file;
}

TEST(Picture, TellsTheKindByItsBytesWhateverItsName) {
  for (const char* name : {"rgb_8.png", "rgb_444.jpg", "lossy.webp"}) {
    EXPECT_GT(decode(golden(name)).width, 0) << name;
  }
}

TEST(Picture, NamesTheFileThatIsNoPicture) {
  for (const std::string& file :
       {"hello"s, "\xff\xd8"s, "\x89PNG"s, "RIFF1234WAVE"s, "\0\0\0\0"s}) {
    EXPECT_EQ(complaint(file),
              "'cat.gif' is no picture that can be read: give a JPEG, PNG or WebP picture");
  }
  EXPECT_EQ(complaint(""), "'cat.gif' is empty: give a JPEG, PNG or WebP picture");
  EXPECT_EQ(complaint("GIF89a"), "'cat.gif' is a GIF picture: give a JPEG, PNG or WebP picture");
  EXPECT_THAT(complaint("\0\0\0\x1c"
                        "ftypheic"s),
              HasSubstr("is a HEIC picture"));
  EXPECT_THAT(complaint("\0\0\0\x1c"
                        "ftypavif"s),
              HasSubstr("is an AVIF picture"));
  EXPECT_THAT(complaint("version https://git-lfs"), HasSubstr("git lfs pull"));
}

TEST(Picture, RefusesSizesBeforeItTakesMemoryForThem) {
  EXPECT_EQ(
      complaint(png_claiming(100'000, 100'000)),
      "'cat.gif' claims 100000 x 100000 pixels, but a side may have 65535 at most: scale it down");
  EXPECT_EQ(complaint(png_claiming(20'000, 20'000)),
            "'cat.gif' claims 20000 x 20000 pixels, more than 200 million: scale it down");
  EXPECT_THAT(complaint(png_claiming(0x80000000u, 1)), HasSubstr("2147483648 x 1"));
  EXPECT_THAT(complaint(jpeg_claiming(60'000, 60'000)), HasSubstr("more than 200 million"));
  EXPECT_THAT(complaint(webp_claiming(16'000, 16'000)), HasSubstr("more than 200 million"));
  EXPECT_THAT(complaint(golden("animation.webp"), {.max_memory = 1000}), HasSubstr("too large"));
  EXPECT_THAT(complaint(golden("progressive.jpg"), {.max_memory = 1000}),
              HasSubstr("progressive JPEG of 37 x 21 pixels, too large to decode"));
}

TEST(Picture, RefusesJpegsThatLibjpegFindsTooLargeWithTheSameAdvice) {
  EXPECT_EQ(complaint(jpeg_claiming(65535, 5)),
            "'cat.gif' claims more than 65500 pixels on a side: scale it down");
}

TEST(Picture, RefusesPicturesWithoutPixels) {
  EXPECT_THAT(complaint(png_claiming(0, 5)), HasSubstr("0 x 5 pixels: there is nothing to see"));
  EXPECT_THAT(complaint(png_claiming(5, 0)), HasSubstr("5 x 0"));
  EXPECT_THAT(complaint(jpeg_claiming(0, 5)), StartsWith("'cat.gif' cannot be decoded as JPEG: "));
}

TEST(Picture, RefusesEveryTruncationInOneLine) {
  for (const char* name : {"rgb_8.png", "grey_16_interlaced.png", "palette_transparent.png",
                           "rgb_420.jpg", "progressive.jpg", "cmyk.jpg", "lossy.webp",
                           "lossless.webp", "animation.webp", "exif.webp"}) {
    const std::string file = golden(name);
    // WebP may end in chunks that no pixel depends on.
    const size_t last =
        std::string_view(name).ends_with(".webp") ? file.size() / 2 : file.size() - 1;
    for (size_t length = 0; length <= last; ++length) {
      const std::string problem = complaint(file.substr(0, length));
      ASSERT_THAT(problem, AllOf(StartsWith("'cat.gif' "), Not(HasSubstr("\n"))))
          << name << " to " << length;
    }
  }
  EXPECT_EQ(complaint(golden("rgb_420.jpg").substr(0, 600)),
            "'cat.gif' cannot be decoded as JPEG: it is truncated; download or save it again");
}

// The end marker stands where it should, but the header claims more rows than there are data for.
TEST(Picture, RefusesAJpegWhoseDataEndEarly) {
  std::string file = golden("rgb_420.jpg");
  const size_t frame = file.find("\xff\xc0");
  ASSERT_NE(frame, file.npos);
  file[frame + 5] = 4;
  EXPECT_EQ(complaint(file),
            "'cat.gif' cannot be decoded as JPEG: it is truncated; download or save it again");
}

TEST(Picture, ReadsOrThrowsWhateverByteIsChanged) {
  for (const char* name :
       {"palette_interlaced.png", "progressive.jpg", "ycck.jpg", "lossy_alpha.webp"}) {
    const std::string file = golden(name);
    for (size_t i = 0; i < file.size(); ++i) {
      for (const char mask : {'\x01', '\x80', '\xff'}) {
        std::string changed = file;
        changed[i] = static_cast<char>(changed[i] ^ mask);
        try {
          const Picture picture = decode(changed, {.max_pixels = 1'000'000});
          ASSERT_EQ(picture.pixels.size(), static_cast<size_t>(3 * picture.width * picture.height));
        } catch (const FileError&) {
        }
      }
    }
  }
}

TEST(Picture, ReadsAnOrientationFromXmpWhereExifIsSilent) {
  const std::string jpeg = golden("rgb_444.jpg");
  const std::string packet = "xmp\0<x tiff:Orientation=\"6\"/>"s;
  const std::string marked =
      jpeg.substr(0, 2) + "\xff\xe1" + big_endian(packet.size() + 2, 2) + packet + jpeg.substr(2);
  const Picture stored = decode(jpeg), turned = decode(marked);
  ASSERT_EQ(turned.width, stored.height);
  ASSERT_EQ(turned.height, stored.width);
  EXPECT_EQ(turned.row(0)[3 * (turned.width - 1)], stored.row(0)[0]);
}

TEST(Picture, NamesAFileThatCannotBeRead) {
  try {
    read_picture("nowhere/cat.jpg");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), StartsWith("cannot read 'nowhere/cat.jpg'"));
  }
}

}  // namespace
}  // namespace whyformer
