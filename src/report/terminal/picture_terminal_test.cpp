#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/terminal/terminal_image.h"
#include "report/views/text.h"
#include "tests/support/printed_lines.h"
#include "tests/support/sample_pictures.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(TerminalImage, TwoPixelsShareACharacter) {
  const Raster raster{1, 2, {1, 2, 3, 40, 50, 60}};
  EXPECT_THAT(half_blocks("x", raster).lines,
              ElementsAre("\x1b[38;2;1;2;3;48;2;40;50;60m▀\x1b[0m"));
}

TEST(TerminalImage, ShadesGrowWithStrengthAndSignsAreWritten) {
  Heat heat{ScoreKind::kMagnitude, {1, 4}, {0, 0.15, 0.55, 1}, 0, 1};
  EXPECT_THAT(shades("x", heat).lines, ElementsAre("  ..++@@"));
  heat = {ScoreKind::kSigned, {2, 2}, {1, -1, 0.02, -0.34}, -1, 1};
  EXPECT_THAT(shades("x", heat).lines, ElementsAre("+9-9", " .-3"));
}

TEST(TerminalImage, BlocksStandSideBySideAsFarAsTheyFit) {
  const TextBlock block{"name", 6, {"aaaaaa", "bbbbbb"}};
  EXPECT_THAT(side_by_side({block, block, block}, 17),
              ElementsAre("  name    name  ", "  aaaaaa  aaaaaa", "  bbbbbb  bbbbbb", "",
                          "  name  ", "  aaaaaa", "  bbbbbb"));
}

TEST(PictureTerminal, NoLineIsWiderThanTheTerminal) {
  for (const int width : {44, 80, 200}) {
    for (const Explanation& explanation :
         {picture_sample(), picture_sample({.width = 448, .height = 64, .patch = 8}),
          picture_sample({.width = 32, .height = 480}), hostile_picture_sample()}) {
      for (const bool colour : {true, false}) {
        const std::string text = to_terminal(explanation, {.colour = colour, .width = width});
        for (const std::string& line : lines_of(without_colours(text))) {
          EXPECT_LE(columns(line), width) << line;
        }
      }
    }
  }
}

TEST(PictureTerminal, ColouredImagesOnlyWithColour) {
  EXPECT_THAT(to_terminal(picture_sample()), HasSubstr("m▀"));
  const std::string plain = to_terminal(picture_sample(), {.colour = false});
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(plain, Not(HasSubstr("▀")));
  EXPECT_THAT(plain, HasSubstr("@@"));
  EXPECT_THAT(plain, HasSubstr("+9"));
}

TEST(PictureTerminal, TheStrongestPatchComesFirst) {
  Explanation explanation = picture_sample();
  explanation.attributions.resize(1);
  explanation.attributions[0].scores[0] = 100;  // the class token is on no patch
  explanation.attributions[0].scores[1 + 3 * 14 + 5] = 7;
  const std::vector<std::string> lines = lines_of(to_terminal(explanation, {.colour = false}));
  const auto first = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("row ") != std::string::npos;
  });
  ASSERT_NE(first, lines.end());
  EXPECT_THAT(*first, HasSubstr("row 3, column 5"));
  EXPECT_THAT(*first, HasSubstr("7.000"));
}

TEST(PictureTerminal, NamesWhatIsOnNoPatchIfAskedTo) {
  Explanation explanation = picture_sample();
  explanation.attributions.resize(2);
  explanation.attributions[0].scores[0] = 0.25;
  explanation.attributions[1].scores[0] = -3;
  explanation.attributions[1].is_signed = true;
  const auto said = [&](SpecialTokens special) {
    return to_terminal(explanation, {.colour = false, .width = 200, .special = special});
  };
  EXPECT_THAT(said(SpecialTokens::kShow),
              HasSubstr("[CLS] covers no patch and is left out of the scale: " +
                        explanation.attributions[0].method + " 0.2500, " +
                        explanation.attributions[1].method + " -3.000"));
  EXPECT_THAT(said(SpecialTokens::kShow), Not(HasSubstr("is hidden")));
  EXPECT_THAT(said(SpecialTokens::kHide),
              HasSubstr("1 special token is hidden and left out of the scale."));
  EXPECT_THAT(said(SpecialTokens::kHide), Not(HasSubstr("[CLS]")));
}

TEST(PictureTerminal, SeveralClassesShareThePictureAndTheAnswers) {
  const std::string text = without_colours(to_terminal(picture_classes_sample()));
  EXPECT_EQ(lines_of(text)[0].substr(0, 15), "▸ beach ball ");  // 3 bytes of the mark
  int pictures = 0;
  for (const std::string& line : lines_of(text)) pictures += line.starts_with("  picture");
  EXPECT_EQ(pictures, 1);
  EXPECT_THAT(text, HasSubstr("\nwooden box 27.2 %"));
  EXPECT_THROW(to_terminal(std::vector<Explanation>{picture_sample(), Explanation()}),
               InvalidInput);
}

}  // namespace
}  // namespace whyformer::report
