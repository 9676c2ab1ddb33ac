// Every odd kind of picture against PIL; scripts/golden/pictures_golden.py wrote the files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden_pictures.h"

namespace whyformer {
namespace {

namespace fs = std::filesystem;

// JPEG too, for libjpeg-turbo rounds its transform alike on every machine.
TEST(PictureGolden, DecodesEveryKindLikePil) {
  const fs::path folder = golden_pictures() / "files";
  const auto index = nlohmann::json::parse(read_packed(folder / "expected.json"));
  const std::string expected = read_packed(folder / "expected.rgb.gz");
  ASSERT_GE(index.size(), 50u);
  for (const auto& entry : index) {
    const auto file = entry["file"].get<std::string>();
    SCOPED_TRACE(file);
    const Picture picture = read_picture(folder / file);
    ASSERT_EQ(picture.width, entry["width"]);
    ASSERT_EQ(picture.height, entry["height"]);
    ASSERT_EQ(picture.pixels.size(), static_cast<size_t>(3 * picture.width * picture.height));
    const size_t offset = entry["offset"];
    for (size_t i = 0; i < picture.pixels.size(); ++i) {
      ASSERT_EQ(picture.pixels[i], static_cast<uint8_t>(expected[offset + i])) << "at " << i;
    }
  }
}

TEST(PictureGolden, ReadsThePicturesOfTheSharedFolder) {
  const fs::path shared = source_folder() / "../shared/data";
  if (!fs::is_directory(shared)) GTEST_SKIP() << "there is no folder of shared pictures";
  int64_t read = 0;
  for (const char* folder : {"images", "concepts"}) {
    for (const auto& entry : fs::recursive_directory_iterator(shared / folder)) {
      const std::string ending = entry.path().extension();
      if (ending != ".jpg" && ending != ".JPEG" && ending != ".png") continue;
      const Picture picture = read_picture(entry.path());
      EXPECT_GT(picture.width * picture.height, 0) << entry.path();
      ++read;
    }
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace whyformer
