// Evaluations in reports: what is not defined is said to be so.
#include "report/views/evaluation_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two methods and the baseline; the second was measured for no input that the first was.
Evaluation without_common_inputs() {
  std::vector<EvaluatedInput> inputs;
  for (int i = 0; i < 8; ++i) {
    const double value = 1 + i;
    EvaluatedInput input{.name = std::to_string(i)};
    input.methods.push_back({.method = "a", .values = {i < 7 ? MetricValue(value) : std::nullopt}});
    input.methods.push_back({.method = "b", .values = {i < 7 ? std::nullopt : MetricValue(0.5)}});
    input.methods.push_back({.method = kRandomBaseline, .values = {value - 1.5 - i % 2}});
    inputs.push_back(input);
  }
  return summarise({}, inputs, {.metrics = {"comprehensiveness"}});
}

TEST(EvaluationView, MethodsWithoutCommonInputsAreNotCalledAlike) {
  const Evaluation evaluation = without_common_inputs();
  EXPECT_EQ(test_words(evaluation, 0),
            "comprehensiveness ↑: a is best, not compared with b for want of common inputs.");
  EXPECT_THAT(to_terminal(evaluation, {.width = 200}),
              HasSubstr("not compared with b for want of common inputs"));
}

// By its mean over ten easy inputs the first is best; on all of them the second is better.
TEST(EvaluationView, TheBestMeanIsNotCalledBetterThanAMethodThatWinsOnTheInputsOfBoth) {
  std::vector<EvaluatedInput> inputs;
  for (int i = 0; i < 20; ++i) {
    EvaluatedInput input{.name = std::to_string(i)};
    const bool easy = i < 10;
    const double value = easy ? 8 + i : 0;
    input.methods.push_back({.method = "a", .values = {easy ? MetricValue(value) : std::nullopt}});
    input.methods.push_back({.method = "b", .values = {value + (easy ? 1 + i / 64.0 : 0)}});
    inputs.push_back(input);
  }
  const Evaluation found = summarise({}, inputs, {.metrics = {"comprehensiveness"}});
  ASSERT_EQ(found.tests.size(), 1u);
  ASSERT_LT(*found.tests[0].p_value, 0.05);
  EXPECT_EQ(test_words(found, 0),
            "comprehensiveness ↑: a is best, but worse than b on the inputs that both have.");
}

TEST(EvaluationView, EveryMethodShowsItsReversedRankingWhereThereIsNoBaseline) {
  EvaluatedInput input{.name = "one"};
  input.methods.push_back({.method = "a", .values = {0.5}, .reversed = {0.125}});
  const Evaluation found = summarise({}, {input}, {.metrics = {"comprehensiveness"}});
  EXPECT_THAT(to_terminal(found, {.colour = false, .width = 100}), HasSubstr("reversed 0.125"));
}

TEST(EvaluationView, ADifferenceWithoutCommonInputsIsNullInJsonAndADashOnThePage) {
  const Evaluation evaluation = without_common_inputs();
  const auto json = nlohmann::json::parse(to_json(evaluation));
  ASSERT_EQ(json["tests"].size(), 2u);
  EXPECT_EQ(json["tests"][0]["other"], "b");
  EXPECT_TRUE(json["tests"][0]["difference"].is_null());
  EXPECT_TRUE(json["tests"][0]["p_value"].is_null());
  EXPECT_EQ(json["tests"][0]["inputs"], 0);
  EXPECT_TRUE(json["tests"][1]["difference"].is_number());
  const std::string page = to_html(evaluation);
  EXPECT_THAT(page, HasSubstr("<td class=\"number\">b</td><td class=\"number\">–</td>"));
  EXPECT_THAT(page, Not(HasSubstr("+0<")));
}

}  // namespace
}  // namespace whyformer::report
