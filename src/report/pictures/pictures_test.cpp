#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <regex>

#include "tests/support/sample_explanations.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

// Read by the leak checker where there is one: Fontconfig keeps 288 bytes for the program's life.
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig"; }

namespace whyformer::report {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Size {
  unsigned width = 0;
  unsigned height = 0;
};

Size png_size(const std::string& file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, file.data(), file.size()) == 0) return {};
  const Size size{image.width, image.height};
  png_image_free(&image);
  return size;
}

Size svg_size(const std::string& file) {
  std::smatch match;
  if (!std::regex_search(file, match, std::regex("viewBox=\"0 0 ([0-9.]+) ([0-9.]+)\""))) return {};
  return {static_cast<unsigned>(std::stod(match[1])), static_cast<unsigned>(std::stod(match[2]))};
}

TEST(Pictures, EverySampleDrawsInBothFormatsWithTwicePixelsInPng) {
  for (const NamedSample& sample : all_samples()) {
    for (const SpecialTokens special : {SpecialTokens::kShow, SpecialTokens::kExclude}) {
      const Size svg = svg_size(bars_picture(sample.explanation, PictureFormat::kSvg, {special}));
      const Size png = png_size(bars_picture(sample.explanation, PictureFormat::kPng, {special}));
      EXPECT_GT(svg.width, 0) << sample.name;
      EXPECT_NEAR(png.width, 2 * svg.width, 2) << sample.name;
      EXPECT_NEAR(png.height, 2 * svg.height, 2) << sample.name;
      if (sample.explanation.attention.empty()) continue;
      EXPECT_GT(
          png_size(attention_picture(sample.explanation, PictureFormat::kPng, {}, {special})).width,
          0);
      EXPECT_GT(svg_size(attention_picture(sample.explanation, PictureFormat::kSvg, {0}, {special}))
                    .width,
                0);
    }
  }
}

TEST(Pictures, MarkupInTextIsEscaped) {
  const std::string svg = bars_picture(hostile_sample(), PictureFormat::kSvg) +
                          attention_picture(hostile_sample(), PictureFormat::kSvg);
  EXPECT_THAT(svg, Not(HasSubstr("<img")));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&lt;/script"));
  EXPECT_THAT(svg, Not(testing::ContainsRegex("[\x01-\x09\x0b-\x1f]")));
}

TEST(Pictures, ALongTextStaysWithinAReasonableSheet) {
  const Size size = svg_size(bars_picture(long_sample(512, 11, 0, 0), PictureFormat::kSvg));
  EXPECT_LT(size.height, 1800);
  EXPECT_LT(size.width, 2600);
}

TEST(Pictures, AMapOf512TokensHasAPixelPerCell) {
  const Size size = png_size(attention_picture(long_sample(512, 0, 1, 1), PictureFormat::kPng));
  EXPECT_GT(size.width, 512);
}

TEST(Pictures, BarLengthsFollowTheScores) {
  Explanation explanation = sample_explanation({.methods = 1});
  explanation.attributions[0].is_signed = false;
  for (double& score : explanation.attributions[0].scores) score = 0;
  for (WordScore& word : explanation.attributions[0].words) word.score = 0;
  explanation.attributions[0].words[0].score = 4;
  explanation.attributions[0].words[1].score = 1;
  const std::string svg = bars_picture(explanation, PictureFormat::kSvg);
  EXPECT_THAT(svg, HasSubstr("width=\"420.00\""));
  EXPECT_THAT(svg, HasSubstr("width=\"105.00\""));
}

TEST(Pictures, OneHeadOfALayerIsDrawnByItself) {
  const Explanation explanation = sample_explanation();
  const std::string one = attention_picture(explanation, PictureFormat::kSvg, {2, 1});
  EXPECT_THAT(one, HasSubstr("Attention of layer 2, head 1"));
  EXPECT_THAT(one, HasSubstr("head 1 · largest"));
  EXPECT_THAT(one, testing::Not(HasSubstr("head 0 · largest")));
  const int heads = static_cast<int>(explanation.attention[2].heads);
  EXPECT_THROW(attention_picture(explanation, PictureFormat::kSvg, {2, heads}), InvalidInput);
  EXPECT_THROW(attention_picture(explanation, PictureFormat::kSvg, {-1, 0}), InvalidInput);
}

TEST(Pictures, AMissingMapOrLayerIsNamed) {
  EXPECT_THROW(attention_picture(regression_sample(), PictureFormat::kSvg, {9}), InvalidInput);
  EXPECT_THROW(attention_picture(sample_explanation({.layers = 0}), PictureFormat::kSvg),
               InvalidInput);
  try {
    attention_picture(sample_explanation(), PictureFormat::kSvg, {4});
    FAIL() << "layer 4 of 4 was drawn";
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(),
                 "attention picture: there is no layer 4; the model has layers 0 to 3");
  }
}

}  // namespace
}  // namespace whyformer::report
