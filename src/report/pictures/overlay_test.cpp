#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "report/views/heat_overlay.h"
#include "tests/support/sample_pictures.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::HasSubstr;
using testing::Not;

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A grey picture of 4 x 4 patches of 8 x 8 pixels, all scores 0 but for two patches.
Explanation grey_sample() {
  Explanation explanation = picture_sample({.width = 32, .height = 32, .patch = 8});
  auto grey = std::make_shared<uint8_t[]>(3 * 32 * 32);
  std::fill_n(grey.get(), 3 * 32 * 32, uint8_t{100});
  explanation.picture->rgb = grey;
  for (Attribution& attribution : explanation.attributions) {
    attribution.pixels.clear();
    attribution.scores.assign(17, 0.0);
    attribution.scores[1 + 5] = 2;                               // row 1, column 1
    if (attribution.is_signed) attribution.scores[1 + 10] = -1;  // row 2, column 2
  }
  return explanation;
}

Colour at(const Raster& raster, int64_t x, int64_t y) {
  const uint8_t* pixel = raster.rgb.data() + 3 * (y * raster.width + x);
  return {pixel[0], pixel[1], pixel[2]};
}

Raster painted_sample(const Explanation& explanation, size_t method, Grain grain) {
  const PictureView& picture = *explanation.picture;
  const MapSize size{picture.height, picture.width};
  return painted(resized(picture, size),
                 heat_of(picture, explanation.attributions[method], size, grain), 0.5);
}

TEST(Overlay, BlocksColourTheirPatchAndLeaveTheOthers) {
  const Raster raster = painted_sample(grey_sample(), 0, Grain::kBlocks);
  const Colour grey{100, 100, 100};
  const Colour strongest = mix(grey, kDarkPalette.attention.back(), 0.5);
  EXPECT_EQ(at(raster, 8, 8), strongest);
  EXPECT_EQ(at(raster, 15, 15), strongest);
  EXPECT_EQ(at(raster, 7, 8), grey);
  EXPECT_EQ(at(raster, 16, 15), grey);
}

TEST(Overlay, SignedScoresAreBlueForAndOrangeAgainstByTheSameScale) {
  const Raster raster = painted_sample(grey_sample(), 2, Grain::kBlocks);
  const Colour positive = at(raster, 12, 12);
  const Colour negative = at(raster, 20, 20);
  EXPECT_GT(positive.blue, positive.red + 40);
  EXPECT_GT(negative.red, negative.blue + 20);
  // Half the score, so less opaque: 0.5 · 0.5^0.75 of the way to the full colour.
  const Colour full = overlay_colour(-1, ScoreKind::kSigned);
  EXPECT_EQ(negative, mix({100, 100, 100}, full, 0.5 * std::pow(0.5, 0.75)));
}

TEST(Overlay, SmoothMapsFadeBetweenPatches) {
  const Explanation explanation = grey_sample();
  const MapSize size{32, 32};
  const Heat heat =
      heat_of(*explanation.picture, explanation.attributions[0], size, Grain::kSmooth);
  const auto strength = [&](int64_t x, int64_t y) {
    return heat.strengths[static_cast<size_t>(y * 32 + x)];
  };
  EXPECT_EQ(strength(11, 11), 1);                             // nearest to the middle of the patch
  EXPECT_NEAR(strength(7, 11), 0.5, 0.05);                    // its left edge
  EXPECT_EQ(strength(3, 11), 0);                              // the middle of its neighbour
  EXPECT_NEAR(heat.high, 2 * std::pow(15.0 / 16, 2), 1e-12);  // half a pixel off the middle
}

TEST(Overlay, PixelScoresAreDrawnPixelByPixel) {
  Explanation explanation = grey_sample();
  explanation.attributions[1].pixels.assign(32 * 32, 0.0f);
  explanation.attributions[1].pixels[5 * 32 + 9] = 3;
  const Raster raster = painted_sample(explanation, 1, Grain::kSmooth);
  int changed = 0;
  for (int64_t y = 0; y < 32; ++y) {
    for (int64_t x = 0; x < 32; ++x) changed += at(raster, x, y) != Colour{100, 100, 100};
  }
  EXPECT_EQ(changed, 1);
  EXPECT_NE(at(raster, 9, 5), (Colour{100, 100, 100}));
}

TEST(Overlay, OutlineAndMaskFollowOtsusSegment) {
  const Explanation explanation = grey_sample();
  const MapSize size{32, 32};
  const Heat heat =
      heat_of(*explanation.picture, explanation.attributions[2], size, Grain::kBlocks);
  const std::vector<bool> inside = segment_of(heat);
  EXPECT_EQ(std::count(inside.begin(), inside.end(), true), 64);  // evidence for, one patch
  Raster outlined = resized(*explanation.picture, size);
  draw_outline(outlined, inside);
  EXPECT_EQ(at(outlined, 8, 12), (Colour{255, 255, 255}));
  EXPECT_EQ(at(outlined, 7, 12), (Colour{100, 100, 100}));
  EXPECT_EQ(at(outlined, 12, 12), (Colour{100, 100, 100}));
  const Raster mask = masked(resized(*explanation.picture, size), inside);
  EXPECT_EQ(at(mask, 12, 12), (Colour{100, 100, 100}));
  EXPECT_LT(at(mask, 20, 20).red, 50);
}

TEST(Overlay, TheSegmentOfPixelScoresIsThatOfTheirPatches) {
  Explanation explanation = grey_sample();
  explanation.attributions[1].pixels.assign(32 * 32, 0.0f);
  explanation.attributions[1].pixels[0] = 1;  // a speckle far from the strongest patch
  const std::vector<bool> inside =
      segment_of(*explanation.picture, explanation.attributions[1], {32, 32}, Grain::kBlocks);
  EXPECT_FALSE(inside[0]);
  EXPECT_TRUE(inside[12 * 32 + 12]);
  EXPECT_EQ(std::count(inside.begin(), inside.end(), true), 64);
}

TEST(Overlay, ASheetHasARowPerClassAndAColumnPerMethod) {
  const std::vector<Explanation> classes = picture_classes_sample();
  const std::string svg = overlay_picture(classes, PictureFormat::kSvg);
  EXPECT_EQ(count_of(svg, "preserveAspectRatio=\"none\" href"), 3 * 4);
  EXPECT_EQ(count_of(svg, "image-rendering:pixelated"), 3 * 3);  // colour bars
  EXPECT_EQ(count_of(svg, "href=\"data:image/png;base64,iVBOR"), 3 * 4 + 3 * 3);
  for (const char* name : {"beach ball", "wooden box", "sky", "gae", "leave-one-out"}) {
    EXPECT_THAT(svg, HasSubstr(name));
  }
  EXPECT_EQ(svg, overlay_picture(classes, PictureFormat::kSvg));
}

TEST(Overlay, AMethodThatOnlyOneClassHasLeavesAGap) {
  std::vector<Explanation> classes = picture_classes_sample();
  classes[1].attributions.erase(classes[1].attributions.begin());
  classes[2].attributions.push_back(classes[2].attributions[0]);  // twice, with other options
  const std::vector<MethodColumn> columns = method_columns(classes);
  ASSERT_EQ(columns.size(), 4);
  EXPECT_EQ(columns[0].attributions[1], nullptr);
  EXPECT_EQ(columns[1].attributions[1], &classes[1].attributions[0]);
  EXPECT_EQ(columns[3].name, "gae");
  EXPECT_EQ(columns[3].attributions[2], &classes[2].attributions[3]);
  EXPECT_NO_THROW(overlay_picture(classes, PictureFormat::kSvg));
}

TEST(Overlay, EveryOptionDrawsInBothFormats) {
  const std::vector<Explanation> classes{
      picture_sample({.width = 48, .height = 32, .patch = 8, .class_token = false})};
  for (const Grain grain : {Grain::kSmooth, Grain::kBlocks}) {
    for (const Segment segment : {Segment::kNone, Segment::kOutline, Segment::kMask}) {
      for (const PictureFormat format : {PictureFormat::kSvg, PictureFormat::kPng}) {
        EXPECT_GT(overlay_picture(classes, format, {grain, segment}).size(), 10'000);
      }
    }
  }
}

TEST(Overlay, MarkupInTextIsEscaped) {
  const std::vector<Explanation> classes{hostile_picture_sample()};
  const std::string svg = overlay_picture(classes, PictureFormat::kSvg) +
                          attention_picture(classes[0], PictureFormat::kSvg);
  EXPECT_THAT(svg, Not(HasSubstr("<img")));
  EXPECT_THAT(svg, HasSubstr("&lt;/script"));
  EXPECT_THAT(svg, Not(testing::ContainsRegex("[\x01-\x09\x0b-\x1f]")));
}

TEST(Overlay, WhatCannotBeDrawnIsNamed) {
  const auto message = [](const std::vector<Explanation>& classes, const OverlayOptions& options) {
    try {
      overlay_picture(classes, PictureFormat::kSvg, options);
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(message({}, {}), "report of a picture: there is no explanation");
  Explanation text;
  text.text = "words";
  EXPECT_THAT(message({picture_sample(), text}, {}), HasSubstr("'words' is not a picture"));
  EXPECT_THAT(message({picture_sample(), picture_sample({.patch = 32})}, {}),
              HasSubstr("not the same picture"));
  EXPECT_THAT(message({picture_sample()}, {.opacity = 1.5}), HasSubstr("opacity 1.5"));
  Explanation broken = picture_sample();
  broken.attributions[1].pixels.pop_back();
  EXPECT_THAT(message({broken}, {}), HasSubstr("it scores 50175 pixels of 224 x 224"));
  broken = picture_sample();
  broken.picture->rows = int64_t{1} << 40;
  EXPECT_THAT(message({broken}, {}), HasSubstr("do not fit 197 units"));
  broken = picture_sample();
  broken.picture->rgb = nullptr;
  EXPECT_THAT(message({broken}, {}), HasSubstr("cannot be drawn"));
  const std::vector<Explanation> many(100, picture_sample({.layers = 0}));
  EXPECT_THAT(message(many, {}), HasSubstr("ask for fewer"));
}

TEST(AttentionOverlay, ShowsTheRowOfTheClassTokenOrTheMeanOfAllPatches) {
  Explanation explanation;
  explanation.units = {{"[CLS]", 0, 0, true}, {"a"}, {"b"}};
  const std::vector<float> weights{0.5f, 0.25f, 0.25f, 0, 1, 0, 0.25f, 0.25f, 0.5f};
  EXPECT_THAT(read_out_row(explanation, weights), testing::ElementsAre(0.5, 0.25, 0.25));
  explanation.units[0].special = false;
  EXPECT_THAT(read_out_row(explanation, weights), testing::ElementsAre(0.25, 0.5, 0.25));
}

TEST(AttentionOverlay, HasAPanelPerLayerOrHead) {
  const Explanation explanation = picture_sample({.layers = 3, .heads = 5});
  const std::string layers = attention_picture(explanation, PictureFormat::kSvg);
  EXPECT_EQ(count_of(layers, "preserveAspectRatio=\"none\" href"), 3);
  EXPECT_THAT(layers, HasSubstr("What [CLS] attends to"));
  const std::string heads = attention_picture(explanation, PictureFormat::kSvg, {2});
  EXPECT_EQ(count_of(heads, "preserveAspectRatio=\"none\" href"), 5);
  EXPECT_THAT(heads, HasSubstr(">head 4<"));
}

TEST(AttentionOverlay, OneHeadOfALayerIsTheSamePanelAlone) {
  const Explanation explanation = picture_sample({.layers = 3, .heads = 4});
  const std::string all = attention_picture(explanation, PictureFormat::kSvg, {2});
  const std::string one = attention_picture(explanation, PictureFormat::kSvg, {2, 3});
  EXPECT_EQ(count_of(one, "preserveAspectRatio=\"none\" href"), 1);
  EXPECT_THAT(one, HasSubstr("layer 2, head 3"));
  // The panel's pixels, the last of four, are those that stand in the sheet of all heads.
  const auto pixels_after = [](const std::string& svg, size_t from) {
    const size_t begin = svg.find("href=\"data:", from);
    return svg.substr(begin, svg.find('"', begin + 6) - begin);
  };
  EXPECT_EQ(pixels_after(one, one.find(">head 3<")), pixels_after(all, all.find(">head 3<")));
  EXPECT_NE(pixels_after(one, one.find(">head 3<")), pixels_after(all, all.find(">head 0<")));
  EXPECT_THROW(attention_picture(explanation, PictureFormat::kSvg, {2, 4}), InvalidInput);
  EXPECT_THROW(attention_picture(explanation, PictureFormat::kSvg, {-1, 0}), InvalidInput);
}

TEST(AttentionOverlay, MapsOfWindowsAreLeftOutAndNamed) {
  const Explanation explanation = window_picture_sample();
  const std::string svg = attention_picture(explanation, PictureFormat::kSvg);
  EXPECT_EQ(count_of(svg, "preserveAspectRatio=\"none\" href"), 2);
  EXPECT_THAT(svg, HasSubstr(">layer 2<"));
  EXPECT_THROW(attention_picture(explanation, PictureFormat::kSvg, {1}), InvalidInput);
  Explanation windows_alone = explanation;
  windows_alone.attention = {explanation.attention[1]};
  try {
    attention_picture(windows_alone, PictureFormat::kSvg);
    FAIL() << "maps of windows were drawn";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("windows"));
  }
}

}  // namespace
}  // namespace whyformer::report
