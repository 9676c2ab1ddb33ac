#include "readers/given_picture.h"

#include <gmock/gmock.h>

#include "tests/support/golden_weights.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PicturePixels pixels(int64_t width, int64_t height, int64_t channels, std::vector<uint8_t> levels) {
  const auto owner = std::make_shared<std::vector<uint8_t>>(std::move(levels));
  return {"given", width, height, channels, std::shared_ptr<const uint8_t[]>(owner, owner->data())};
}

TEST(GivenPicture, ExplainsPixelsAsTheFileThatHoldsThem) {
  const std::filesystem::path file = source_folder() / "tests/data/pictures/objects/object-000.png";
  const Picture picture = read_picture(file);
  const PicturePixels same = pixels(picture.width, picture.height, 3, picture.pixels);
  const Model model = Model::built_in_for_pictures();
  ExplainRequest request;
  request.methods = {{"gae", {}}, {"attn-lrp", {}}};
  request.top = 2;
  const auto own = explain(model, same, request),
             expected = explain(model, PictureFile{file}, request);
  ASSERT_EQ(own.size(), 2u);
  EXPECT_EQ(own[0].text, "given");
  EXPECT_EQ(own[0].picture->file_width, picture.width);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(own[i].output.values, expected[i].output.values);
    EXPECT_EQ(own[i].target.label, expected[i].target.label);
    for (size_t k = 0; k < 2; ++k)
      EXPECT_EQ(own[i].attributions[k].scores, expected[i].attributions[k].scores);
  }
  const Trace one = trace(model, same, request), other = trace(model, PictureFile{file}, request);
  EXPECT_EQ(to_safetensors(one), to_safetensors(other));
}

TEST(GivenPicture, ReadsGreyAndDropsTransparency) {
  EXPECT_THAT(pixels_of(pixels(2, 1, 1, {7, 200})).pixels, ElementsAre(7, 7, 7, 200, 200, 200));
  EXPECT_THAT(pixels_of(pixels(1, 2, 4, {1, 2, 3, 0, 4, 5, 6, 255})).pixels,
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(pixels_of(pixels(1, 1, 3, {1, 2, 3})).pixels, ElementsAre(1, 2, 3));
}

TEST(GivenPicture, RefusesWhatIsNoPicture) {
  const auto refusal = [](const PicturePixels& given) {
    return message_of<InvalidInput>([&] { pixels_of(given); });
  };
  EXPECT_EQ(refusal(pixels(0, 4, 3, {})),
            "the picture 'given' has 0 × 4 pixels: each side must have 1 to 65535, and the whole "
            "at most 200000000");
  EXPECT_THAT(refusal(pixels(60'000, 60'000, 3, {})), HasSubstr("60000 × 60000 pixels"));
  EXPECT_THAT(refusal(pixels(INT64_MAX, 2, 3, {})), HasSubstr("each side must have"));
  EXPECT_THAT(refusal(pixels(1, 1, 2, {1, 2})),
              HasSubstr("2 channels: give 1 (grey), 3 (RGB) or 4 (RGBA)"));
  EXPECT_THAT(refusal({"empty", 1, 1, 3, nullptr}), HasSubstr("'empty' has no pixels"));
}

}  // namespace
}  // namespace whyformer
