#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/views/text.h"
#include "tests/support/printed_lines.h"
#include "tests/support/sample_explanations.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Terminal, NoLineIsWiderThanTheTerminal) {
  for (const NamedSample& sample : all_samples()) {
    for (const int width : {44, 80, 133}) {
      const std::string text = to_terminal(sample.explanation, {.colour = false, .width = width});
      for (const std::string& line : lines_of(text)) {
        EXPECT_LE(columns(line), width) << sample.name << ": " << line;
      }
    }
  }
}

TEST(Terminal, WithoutColourThereAreNoEscapes) {
  for (const NamedSample& sample : all_samples()) {
    EXPECT_THAT(to_terminal(sample.explanation, {.colour = false}), Not(HasSubstr("\x1b")))
        << sample.name;
  }
}

TEST(Terminal, HostileTextAddsNoEscapesOfItsOwn) {
  const std::string rest = without_colours(to_terminal(hostile_sample()));
  for (const std::string& line : lines_of(rest)) EXPECT_EQ(printable(line), line);
  EXPECT_THAT(rest, HasSubstr("\\x1b[2J"));
}

TEST(Terminal, EndsInOneNewline) {
  for (const NamedSample& sample : all_samples()) {
    const std::string text = to_terminal(sample.explanation);
    EXPECT_TRUE(text.ends_with("\n")) << sample.name;
    EXPECT_FALSE(text.ends_with("\n\n")) << sample.name;
  }
}

TEST(Terminal, FirstLineTellsThePrediction) {
  const std::string text = to_terminal(sample_explanation(), {.colour = false});
  EXPECT_THAT(lines_of(text)[0], testing::StartsWith("Predicted positive"));
  EXPECT_THAT(lines_of(text)[0], HasSubstr("99.6 %"));
}

TEST(Terminal, SaysWhenTheTargetIsNotThePrediction) {
  const std::string text = to_terminal(many_labels_sample(1000), {.colour = false});
  EXPECT_THAT(lines_of(text)[0], testing::StartsWith("Predicted category 1 "));
  EXPECT_THAT(lines_of(text)[1], testing::AllOf(testing::StartsWith("Explained category 17"),
                                                HasSubstr("(not the prediction)")));
}

TEST(Terminal, BarsKeepTheStrongestTwelveAndCountTheRest) {
  const std::string text = to_terminal(long_sample(512, 1, 0, 0), {.colour = false});
  EXPECT_THAT(text, HasSubstr("and "));
  int bars = 0;
  for (const std::string& line : lines_of(text)) bars += line.starts_with("  wonderful  █") ? 1 : 0;
  EXPECT_EQ(bars, 12);
}

TEST(Terminal, PlainBarsTellTheSign) {
  const std::string text = to_terminal(sample_explanation({.methods = 1}), {.colour = false});
  EXPECT_THAT(text, HasSubstr("wonderful  ████"));
  EXPECT_THAT(text, HasSubstr("unbearably  ▒▒▒▒"));
  EXPECT_THAT(text, testing::AllOf(HasSubstr("  +1.7"), HasSubstr("  -0.5")));
}

TEST(Terminal, SaysThatSpecialTokensAreHidden) {
  const std::string text =
      to_terminal(sample_explanation(), {.colour = false, .special = SpecialTokens::kHide});
  EXPECT_THAT(text, HasSubstr("2 special tokens are hidden but counted in the scale."));
  EXPECT_THAT(text, Not(HasSubstr("[CLS]")));
  EXPECT_THAT(to_terminal(sample_explanation(), {.special = SpecialTokens::kExclude}),
              HasSubstr("left out of the scale"));
}

TEST(Terminal, SaysWhatIsWrongWithScores) {
  const std::string text = to_terminal(broken_scores_sample(), {.colour = false});
  EXPECT_THAT(text, HasSubstr("not a number"));
  EXPECT_THAT(text, HasSubstr("All scores are zero."));
}

TEST(Terminal, TheTextStaysWholeUnderItsColours) {
  const std::string text = without_colours(to_terminal(sample_explanation({.methods = 1})));
  EXPECT_THAT(
      text,
      HasSubstr("[CLS] A quietly wonderful film, although the ending is unbearably slow. [SEP]"));
}

}  // namespace
}  // namespace whyformer::report
