#include "readers/pictures/picture_processor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/golden_pictures.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

FileLookup files_with(std::string name, std::string content) {
  return [=](std::string_view wanted) -> std::optional<Bytes> {
    if (wanted != name) return std::nullopt;
    return bytes_of(content);
  };
}

PictureProcessor processor_of(const std::string& config) {
  return PictureProcessor(picture_settings(files_with("preprocessor_config.json", config)));
}

template <typename Kind>
std::string complaint(const std::string& config) {
  try {
    processor_of(config);
  } catch (const Kind& error) {
    return error.what();
  }
  return "no error of this kind";
}

// Every processor class with its defaults and old spellings, on three pictures, by
// scripts/golden/pictures_golden.py. The values are those of transformers to the last bit.
TEST(PictureProcessor, EqualsTheImageProcessorsOfTransformers) {
  const auto cases = nlohmann::json::parse(read_packed(golden_pictures() / "processors.json"));
  ASSERT_GE(cases.size(), 50u);
  for (const auto& golden : cases) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const PictureProcessor processor = processor_of(golden["config"].dump());
    const ProcessedPicture input =
        processor(pattern_picture(golden["pattern"], golden["width"], golden["height"]));
    ASSERT_EQ(input.values.shape(), golden["shape"].get<Shape>());
    const float* values = input.values.data<float>();
    for (size_t i = 0; i < golden["places"].size(); ++i) {
      ASSERT_EQ(values[golden["places"][i].get<size_t>()], golden["values"][i].get<float>()) << i;
    }
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(values),
                           static_cast<uInt>(input.values.size() * sizeof(float)));
    EXPECT_EQ(sum, golden["crc"].get<uint32_t>());
  }
}

TEST(PictureProcessor, TellsWhereItsInputLiesOnTheOriginal) {
  const auto region_of = [](const std::string& config, int64_t width, int64_t height) {
    const PictureRegion region = processor_of(config)(pattern_picture(0, width, height)).region;
    return fmt::format("{:g} {:g} {:g} {:g}", region.left, region.top, region.width, region.height);
  };
  // Squeezed: all of it.
  EXPECT_EQ(region_of(R"({"image_processor_type": "ViTImageProcessor"})", 300, 200), "0 0 300 200");
  // 600 x 400 becomes 300 x 200, of which the middle 100 x 120 are kept.
  const std::string cropped =
      R"({"image_processor_type": "BitImageProcessor", "size": 200, "crop_size": {"height": 120, "width": 100}})";
  EXPECT_EQ(region_of(cropped, 600, 400), "200 80 200 240");
  // Not resized, and padded by 5 above and below, by 11 pixels left and 10 right.
  const std::string padded =
      R"({"image_processor_type": "CLIPImageProcessor", "do_resize": false, "crop_size": {"height": 30, "width": 40}})";
  EXPECT_EQ(region_of(padded, 19, 20), "-11 -5 40 30");
}

TEST(PictureProcessor, KeepsWhatTheModelSees) {
  const PictureProcessor processor =
      processor_of(R"({"image_processor_type": "DeiTImageProcessor"})");
  EXPECT_EQ(processor.input_size(), (PictureSize{224, 224}));
  const ProcessedPicture input = processor(pattern_picture(1, 50, 70));
  EXPECT_EQ(input.seen.width, 224);
  const Tensor again = processor.values(input.seen);
  for (int64_t i = 0; i < again.size(); ++i) {
    ASSERT_EQ(again.data<float>()[i], input.values.data<float>()[i]);
  }
  EXPECT_FALSE(
      processor_of(R"({"image_processor_type": "CLIPImageProcessor", "do_center_crop": false})")
          .input_size());
}

TEST(PictureProcessor, ReadsNestedFilesAndFallsBackToTheModelType) {
  const auto nested = picture_settings(files_with(
      "processor_config.json",
      R"({"image_processor": {"image_processor_type": "ViTImageProcessor", "size": 96}})"));
  EXPECT_EQ(nested.size, (PictureSize{96, 96}));
  const auto by_model = picture_settings([](std::string_view name) -> std::optional<Bytes> {
    if (name == "config.json") return bytes_of(R"({"model_type": "dinov2"})");
    if (name == "preprocessor_config.json") return bytes_of(R"({"crop_size": 98})");
    return std::nullopt;
  });
  EXPECT_EQ(by_model.shortest_edge, 224);
  EXPECT_EQ(by_model.crop, (PictureSize{98, 98}));
}

TEST(PictureProcessor, RefusesStepsItDoesNotKnowAllAtOnce) {
  const std::string problem = complaint<UnsupportedModel>(
      R"({"image_processor_type": "ViTImageProcessor", "do_thumbnail": true, "do_pad": true, "do_flip": false, "x": null})");
  EXPECT_THAT(problem, HasSubstr("'do_pad', 'do_thumbnail'"));
  EXPECT_THAT(problem, Not(HasSubstr("do_flip")));
  EXPECT_THAT(complaint<UnsupportedModel>(
                  R"({"image_processor_type": "ViTImageProcessor", "crop_pct": 0.9})"),
              HasSubstr("crop_pct"));
  EXPECT_THAT(complaint<UnsupportedModel>(R"({"image_processor_type": "LevitImageProcessor"})"),
              HasSubstr("supported are ViTImageProcessor, DeiTImageProcessor"));
  EXPECT_THAT(complaint<UnsupportedModel>(R"({})"), HasSubstr("names no 'image_processor_type'"));
  const auto with = [](const std::string& setting) {
    return R"({"image_processor_type": "ViTImageProcessor", )" + setting + "}";
  };
  EXPECT_THAT(complaint<UnsupportedModel>(with(R"("size": {"longest_edge": 5})")),
              HasSubstr("longest_edge"));
  EXPECT_THAT(complaint<UnsupportedModel>(with(R"("size": "224")")), HasSubstr("'size'"));
}

TEST(PictureProcessor, RefusesAbsurdSettings) {
  for (const char* setting :
       {R"("size": 0)", R"("size": -3)", R"("size": 1e9)", R"("size": 70000)",
        R"("size": {"height": 5, "width": "a"})", R"("resample": 6)", R"("resample": "bicubic")",
        R"("image_std": 0)", R"("image_std": [1, 1])", R"("image_mean": [1, 1, "a"])",
        R"("image_mean": [1, 1, 1e99])", R"("do_center_crop": true)", R"("do_resize": 1)",
        R"("rescale_factor": "x")"}) {
    const std::string config =
        fmt::format(R"({{"image_processor_type": "ViTImageProcessor", {}}})", setting);
    EXPECT_THAT(complaint<FileError>(config), HasSubstr("'preprocessor_config.json'")) << setting;
  }
  EXPECT_THAT(complaint<FileError>("[]"), HasSubstr("should be an object"));
  EXPECT_THAT(complaint<FileError>("{"), HasSubstr("is not JSON"));
  EXPECT_THROW(picture_settings([](std::string_view) { return std::nullopt; }), FileError);
  for (const char* share : {"0", "1e-9", "-1"}) {
    const std::string config = fmt::format(
        R"({{"image_processor_type": "ConvNextImageProcessor", "size": 224, "crop_pct": {}}})",
        share);
    EXPECT_THAT(complaint<FileError>(config), HasSubstr("crop_pct"));
  }
}

}  // namespace
}  // namespace whyformer
