#include "studies/summary/interactions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace whyformer {
namespace {

// 20 inputs make windows of two, in which a correlation is 1 or nothing.
std::vector<double> count_to_20() {
  std::vector<double> numbers(20);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return numbers;
}

TEST(InteractionStrength, SumsOneForEachWindowInWhichBothVary) {
  const std::vector<double> values = count_to_20();
  std::vector<double> scores = count_to_20(), other(20, 5.0);
  EXPECT_EQ(interaction_strength(values, scores, other), 0);
  other[0] = 4;  // the first window varies
  other[7] = 9;  // and the fourth
  EXPECT_NEAR(interaction_strength(values, scores, other), 2, 1e-12);
  scores[6] = scores[7];  // whose scores are the same
  EXPECT_NEAR(interaction_strength(values, scores, other), 1, 1e-12);
}

TEST(InteractionStrength, WindowsFollowTheValues) {
  std::vector<double> values = count_to_20(), scores = count_to_20(), other(20, 0.0);
  std::reverse(values.begin(), values.end());
  other[0] = other[1] = 1;  // neighbours: no window varies
  EXPECT_EQ(interaction_strength(values, scores, other), 0);
  std::swap(values[1], values[10]);  // now in two windows
  EXPECT_NEAR(interaction_strength(values, scores, other), 2, 1e-12);
}

TEST(InteractionStrength, MissingCellsMayBeWhatMatters) {
  std::vector<double> other(20, 3.0);
  other[0] = other[2] = other[5] = NAN;
  EXPECT_NEAR(interaction_strength(count_to_20(), count_to_20(), other), 3, 1e-12);
}

// Scores of "a" follow a, upwards where b is 1 and downwards where it is -1; c says nothing.
TEST(FindInteractions, SummariseTellsTheColumnThatScoresDependOn) {
  std::vector<Explanation> rows;
  for (int i = 0; i < 40; ++i) {
    const double a = i, b = i % 3 == 0 ? 1 : -1;
    Explanation row;
    row.model.name = "rows";
    row.output = {"logit", {0, 1}, {"no", "yes"}};
    row.target = {1, "yes", 1, {}};
    for (const auto& [name, value] : {std::pair("a", a), std::pair("b", b), std::pair("c", 7.0)})
      row.units.push_back({.text = name, .column = name, .value = value});
    Attribution attribution;
    attribution.method = "shap";
    attribution.scores = {a * b, b / 10, 0};
    row.attributions.push_back(attribution);
    rows.push_back(row);
  }
  const Summary summary = summarise(rows, "shap", {.rows = 2});
  ASSERT_EQ(summary.rows[0].name, "a");
  EXPECT_EQ(summary.rows[0].interacts_with, "b");
  ASSERT_EQ(summary.summed.size(), 2);
  EXPECT_EQ(summary.summed[1].name, "c");
  EXPECT_EQ(summary.summed[1].interacts_with, "");  // its scores never vary
  EXPECT_EQ(summary.rows[1].interacts_with, "");    // no column
}

}  // namespace
}  // namespace whyformer
