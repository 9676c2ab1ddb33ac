#include "readers/pictures/resize_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/parallel.h"
#include "tests/support/every_target.h"
#include "tests/support/golden_pictures.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

uint32_t checksum(const Picture& picture) {
  return static_cast<uint32_t>(
      crc32(0, picture.pixels.data(), static_cast<uInt>(picture.pixels.size())));
}

// scripts/golden/pictures_golden.py wrote the sums: 40 pairs of sizes, 3 pictures, 6 filters.
TEST(ResizePicture, EqualsPilInEveryPixel) {
  const auto cases = nlohmann::json::parse(read_packed(golden_pictures() / "resized.json.gz"));
  ASSERT_EQ(cases.size(), 40u * 3 * 6);
  Picture source;
  for (const auto& golden : cases) {
    // The filters of one picture follow each other, and computing it takes longer than resizing it.
    if (golden[5] == 0) source = pattern_picture(golden[0], golden[1], golden[2]);
    const PictureSize size{golden[3], golden[4]};
    const Picture resized =
        resize_picture(source, size, static_cast<Resampling>(golden[5].get<int>()));
    ASSERT_EQ((PictureSize{resized.width, resized.height}), size);
    const size_t middle = resized.pixels.size() / 2;
    for (size_t i = 0; i < golden[7].size(); ++i) {
      ASSERT_EQ(resized.pixels[middle + i], golden[7][i]) << golden << " at " << i;
    }
    ASSERT_EQ(checksum(resized), golden[6]) << golden;
  }
}

TEST(ResizePicture, GivesTheSamePixelsWithAnyInstructionsAndThreads) {
  const Picture source = pattern_picture(1, 301, 203);
  const int threads = thread_count();
  set_thread_count(1);
  const uint32_t expected = checksum(resize_picture(source, {97, 61}, Resampling::kBicubic));
  for_every_target([&] {
    EXPECT_EQ(checksum(resize_picture(source, {97, 61}, Resampling::kBicubic)), expected);
  });
  set_thread_count(5);
  EXPECT_EQ(checksum(resize_picture(source, {97, 61}, Resampling::kBicubic)), expected);
  set_thread_count(threads);
}

TEST(ResizePicture, ComputesAWindowAsIfItHadBeenCutOut) {
  const Picture source = pattern_picture(1, 64, 48);
  for (const Resampling resampling : {Resampling::kNearest, Resampling::kBicubic}) {
    for (const PictureSize size : {PictureSize{40, 30}, {64, 30}, {40, 48}, {64, 48}, {100, 90}}) {
      const Picture whole = resize_picture(source, size, resampling);
      for (const PictureWindow window :
           {PictureWindow{3, 5, {20, 10}}, {-7, -9, {120, 110}}, {30, -4, {50, 20}}}) {
        const Picture part = resize_picture(source, size, resampling, window);
        ASSERT_EQ((PictureSize{part.width, part.height}), window.size);
        for (int64_t y = 0; y < part.height; ++y) {
          for (int64_t x = 0; x < part.width; ++x) {
            const int64_t from_x = x + window.left, from_y = y + window.top;
            const bool inside =
                from_x >= 0 && from_x < size.width && from_y >= 0 && from_y < size.height;
            for (int c = 0; c < 3; ++c) {
              ASSERT_EQ(part.row(y)[3 * x + c], inside ? whole.row(from_y)[3 * from_x + c] : 0);
            }
          }
        }
      }
    }
  }
  const Picture beside = resize_picture(source, {40, 30}, Resampling::kBilinear, {50, 0, {4, 4}});
  EXPECT_THAT(beside.pixels, testing::Each(0));
}

TEST(ResizePicture, RefusesSizesThatNoMemoryHolds) {
  const Picture line = pattern_picture(0, 60'000, 1);
  const PictureSize huge{60'000 * 224, 224};
  EXPECT_THROW(resize_picture(line, huge, Resampling::kBicubic), InvalidInput);
  EXPECT_THROW(resize_picture(line, {1, int64_t{1} << 62}, Resampling::kBicubic), InvalidInput);
  EXPECT_THROW(resize_picture(line, {0, 5}, Resampling::kBicubic), InvalidInput);
  EXPECT_THROW(resize_picture({}, {5, 5}, Resampling::kBicubic), InvalidInput);
}

}  // namespace
}  // namespace whyformer
