// Summaries of evaluations and of agreement by hand, known regions, and whole evaluations.
#include "whyformer/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "evaluate/ordered_path.h"
#include "whyformer/error.h"
#include "whyformer/method_agreement.h"

namespace whyformer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// Six inputs and two columns. Numbers are multiples of 1/64, so that differences are exact.
std::vector<EvaluatedInput> six_inputs() {
  const std::vector<double> around{1, -2, 3, -4, 5, -6};
  std::vector<EvaluatedInput> inputs;
  for (int i = 0; i < 6; ++i) {
    const double own = 1 + i, below = (i + 1) / 64.0;
    const MetricValue some = i < 3 ? MetricValue(0.5) : std::nullopt;
    EvaluatedInput input{.name = std::to_string(i)};
    input.methods.push_back({.method = "a",
                             .values = {own, std::nullopt},
                             .reversed = {-own, std::nullopt},
                             .cost = {.forwards = 2, .backwards = 1, .seconds = 0.5}});
    input.methods.push_back({.method = "b", .values = {own - below, some}, .reversed = {0.0, 4.0}});
    input.methods.push_back({.method = "c", .values = {own + around[i] / 64, some}});
    input.methods.push_back({.method = kRandomBaseline, .values = {own - 2 * below, 0.25}});
    inputs.push_back(input);
  }
  return inputs;
}

EvaluationRequest two_metrics() { return {.metrics = {"comprehensiveness", "sufficiency"}}; }

TEST(SummariseEvaluation, MeansAreThoseOfTheInputsWhereTheMetricIsDefined) {
  const Evaluation found = summarise({}, six_inputs(), two_metrics());
  EXPECT_THAT(found.methods, ElementsAre("a", "b", "c", "random"));
  ASSERT_EQ(found.columns.size(), 2u);
  EXPECT_TRUE(found.columns[0].higher_is_better);
  EXPECT_FALSE(found.columns[1].higher_is_better);
  EXPECT_EQ(found.cells[0][0].mean, 3.5);
  EXPECT_EQ(found.cells[0][0].reversed, -3.5);
  EXPECT_EQ(found.cells[0][0].inputs, 6);
  EXPECT_EQ(found.cells[0][0].interval->value, 3.5);
  EXPECT_LT(found.cells[0][0].interval->low, 3.5);
  EXPECT_GT(found.cells[0][0].interval->high, 3.5);
  EXPECT_EQ(found.cells[1][0].mean, 3.5 - 3.5 / 64);
  EXPECT_FALSE(found.cells[0][1].mean);
  EXPECT_FALSE(found.cells[0][1].interval);
  EXPECT_FALSE(found.cells[0][1].reversed);
  EXPECT_EQ(found.cells[0][1].inputs, 0);
  EXPECT_EQ(found.cells[1][1].mean, 0.5);
  EXPECT_EQ(found.cells[1][1].reversed, 4);
  EXPECT_EQ(found.cells[1][1].inputs, 3);
  EXPECT_EQ(found.costs[0].forwards, 12);
  EXPECT_EQ(found.costs[0].backwards, 6);
  EXPECT_EQ(found.costs[0].seconds, 3);
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST(SummariseEvaluation, RanksSkipTheBaselineAndEqualMeansShareTheBetterOne) {
  const Evaluation found = summarise({}, six_inputs(), two_metrics());
  // Means 3.5, 3.5 - 3.5/64 and 3.5 - 0.5/64.
  EXPECT_EQ(found.cells[0][0].rank, 1);
  EXPECT_EQ(found.cells[1][0].rank, 3);
  EXPECT_EQ(found.cells[2][0].rank, 2);
  EXPECT_FALSE(found.cells[3][0].rank);
  // The baseline's 0.25 would be better than 0.5.
  EXPECT_FALSE(found.cells[0][1].rank);
  EXPECT_EQ(found.cells[1][1].rank, 1);
  EXPECT_EQ(found.cells[2][1].rank, 1);
  EXPECT_FALSE(found.cells[3][1].rank);
}

TEST(SummariseEvaluation, TestsTheBestAgainstTheOthersWithHolmsCorrection) {
  const Evaluation found = summarise({}, six_inputs(), two_metrics());
  ASSERT_EQ(found.tests.size(), 6u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found.tests[i].column, 0u);
    EXPECT_EQ(found.tests[i].best, "a");
    EXPECT_EQ(found.tests[i].inputs, 6);
  }
  EXPECT_EQ(found.tests[0].other, "b");
  EXPECT_EQ(found.tests[0].difference, 3.5 / 64);
  EXPECT_EQ(found.tests[1].other, "c");
  EXPECT_EQ(found.tests[1].difference, 0.5 / 64);
  EXPECT_EQ(found.tests[2].other, "random");
  // Six differences of one sign: 2 of 64 signs. Negative ranks 1, 3 and 5: 27 of the 64 subsets of
  // the ranks have a sum up to 9. Holm: three times the least, then no smaller than that.
  EXPECT_DOUBLE_EQ(*found.tests[0].p_value, 3 * 2 / 64.0);
  EXPECT_DOUBLE_EQ(*found.tests[1].p_value, 2 * 27 / 64.0);
  EXPECT_DOUBLE_EQ(*found.tests[2].p_value, 3 * 2 / 64.0);
}

TEST(SummariseEvaluation, TestsOverInputsThatBothHaveAndIsSilentWhereNothingDiffers) {
  const Evaluation found = summarise({}, six_inputs(), two_metrics());
  const std::vector<EvaluationTest> tests(found.tests.begin() + 3, found.tests.end());
  for (const EvaluationTest& test : tests) EXPECT_EQ(test.best, "b");
  EXPECT_EQ(tests[0].other, "a");
  EXPECT_EQ(tests[0].inputs, 0);
  EXPECT_FALSE(tests[0].difference);
  EXPECT_FALSE(tests[0].p_value);
  EXPECT_EQ(tests[1].other, "c");
  EXPECT_EQ(tests[1].inputs, 3);
  EXPECT_EQ(tests[1].difference, 0);
  EXPECT_FALSE(tests[1].p_value);
  EXPECT_EQ(tests[2].other, "random");
  EXPECT_EQ(tests[2].inputs, 3);
  EXPECT_EQ(tests[2].difference, 0.25);
  EXPECT_DOUBLE_EQ(*tests[2].p_value, 0.25);  // 2 of 8 signs, one test
}

TEST(SummariseEvaluation, ValuesThatAreNotNumbersCountNowhere) {
  std::vector<EvaluatedInput> inputs = six_inputs();
  inputs[5].methods[1].values[0] = kNotANumber;
  const Evaluation found = summarise({}, inputs, two_metrics());
  EXPECT_EQ(found.cells[1][0].inputs, 5);
  EXPECT_EQ(found.cells[1][0].mean, 3 - 3 / 64.0);
  EXPECT_EQ(found.tests[0].other, "b");
  EXPECT_EQ(found.tests[0].inputs, 5);
  EXPECT_EQ(found.tests[0].difference, 3 / 64.0);
  // 2 of 32 signs; corrected with those of the baseline, 2 of 64, and of c.
  EXPECT_DOUBLE_EQ(*found.tests[0].p_value, 2 * 2 / 32.0);
}

TEST(SummariseEvaluation, InputsWithAProblemKeepTheirPlaceAndAreTold) {
  std::vector<EvaluatedInput> inputs = six_inputs();
  inputs[2] = {.name = "broken", .problem = "no such file"};
  for (EvaluatedInput& input : inputs) {
    for (MeasuredMethod& method : input.methods) method.values[1] = std::nullopt;
  }
  const Evaluation found = summarise({}, inputs, two_metrics());
  ASSERT_EQ(found.inputs.size(), 6u);
  EXPECT_EQ(found.inputs[2].name, "broken");
  EXPECT_EQ(found.cells[0][0].inputs, 5);
  EXPECT_EQ(found.cells[0][0].mean, (1 + 2 + 4 + 5 + 6) / 5.0);
  EXPECT_THAT(found.notes, Contains("1 of 6 inputs could not be evaluated:"));
  EXPECT_THAT(found.notes, Contains("broken: no such file"));
  EXPECT_THAT(found.notes, Contains(HasSubstr("Not defined for any input: sufficiency.")));
  EXPECT_THAT(found.notes, Contains(HasSubstr("fewer than 6 inputs")));
}

TEST(SummariseEvaluation, NothingAtAllIsAnEmptyTable) {
  const Evaluation found = summarise({}, {}, two_metrics());
  EXPECT_THAT(found.methods, IsEmpty());
  EXPECT_THAT(found.tests, IsEmpty());
  EXPECT_EQ(found.columns.size(), 2u);
}

TEST(EvaluationColumns, MetricsThatHideNothingHaveOneColumn) {
  const auto columns =
      columns_of({.metrics = {"complexity", "deletion", "iou"}, .hidings = {"mask", "delete"}});
  std::vector<std::pair<std::string, std::string>> names;
  for (const EvaluationColumn& column : columns) names.emplace_back(column.metric, column.hiding);
  EXPECT_THAT(names, ElementsAre(std::pair("complexity", ""), std::pair("deletion", "mask"),
                                 std::pair("iou", ""), std::pair("deletion", "delete")));
}

// Two inputs, of three units and of two; the first method draws in the first.
std::vector<AgreementInput> two_inputs() {
  return {{.name = "first",
           .methods = {"a", "b"},
           .is_signed = {true, true},
           .scores = {{3, 2, 1}, {1, 2, 3}},
           .again = {{3, 1, 2}, {}}},
          {.name = "second",
           .methods = {"a", "b"},
           .is_signed = {true, false},
           .scores = {{1, -1}, {2, -3}},
           .again = {{}, {}}}};
}

void expect_cell(const AgreementCell& cell, double mean, int64_t inputs) {
  ASSERT_TRUE(cell.mean);
  EXPECT_NEAR(*cell.mean, mean, 1e-12);
  EXPECT_EQ(cell.inputs, inputs);
  EXPECT_EQ(cell.interval.has_value(), inputs > 1);
}

TEST(SummariseAgreement, EqualsNumbersByHand) {
  const AgreementReport found = summarise({}, two_inputs(), {});
  EXPECT_THAT(found.methods, ElementsAre("a", "b"));
  EXPECT_EQ(found.inputs, 2);
  const AgreementCells& pair = found.pairs[0][1];
  expect_cell(pair[0], (-1.0 + 1) / 2, 2);  // Spearman
  expect_cell(pair[1], (-1.0 + 1) / 2, 2);  // Kendall
  expect_cell(pair[2], (0.0 + 1) / 2, 2);   // the highest unit
  // Signs are compared in the first input alone: attention has none in the second.
  expect_cell(pair[3], 0, 1);
  expect_cell(pair[5], 1, 1);
  // Depths of the first input agree by 0, 1/2 and 1.
  const double overlap = 0.729 + 0.1 / 0.9 * (0.5 * 0.81 + 0.729);
  expect_cell(pair[4], (overlap + 1) / 2, 2);
  for (size_t measure = 0; measure < kAgreementMeasureCount; ++measure) {
    EXPECT_EQ(found.pairs[1][0][measure].mean, pair[measure].mean);
    if (found.pairs[0][0][measure].mean) {
      EXPECT_NEAR(*found.pairs[0][0][measure].mean, 1, 1e-12);
    }
  }
}

TEST(SummariseAgreement, CeilingIsTheOtherSeedAndFloorTheRelabelledUnits) {
  const AgreementRequest request{.explain = {.seed = 5}};
  const std::vector<AgreementInput> inputs = two_inputs();
  const AgreementReport found = summarise({}, inputs, request);
  expect_cell(found.ceiling[0][0], (0.5 + 1) / 2, 2);  // 3 2 1 and 3 1 2: one of two steps
  expect_cell(found.ceiling[1][0], 1, 2);
  double sum = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<double>& right = inputs[i].scores[1];
    std::vector<double> moved;
    for (const int64_t unit :
         random_ranking(static_cast<int64_t>(right.size()), 5, static_cast<int64_t>(2 * i))) {
      moved.push_back(right[unit]);
    }
    sum += *agreement_of(inputs[i].scores[0], moved, {}, request)[0];
  }
  expect_cell(found.floor[0], sum / 2, 2);
}

TEST(SummariseAgreement, WhatIsNotDefinedIsNothing) {
  std::vector<AgreementInput> inputs = two_inputs();
  inputs[0].scores[0] = {1, 1, 1};
  inputs[1] = {.name = "broken", .problem = "no text"};
  const AgreementReport found = summarise({}, inputs, {});
  EXPECT_FALSE(found.pairs[0][1][0].mean);
  EXPECT_FALSE(found.pairs[0][1][0].interval);
  EXPECT_EQ(found.pairs[0][1][0].inputs, 0);
  EXPECT_EQ(found.inputs, 1);
  EXPECT_THAT(found.notes, ElementsAre("1 of 2 inputs could not be explained:", "broken: no text"));
}

TEST(AgreementOfScores, OfMagnitudesHasNoSignsAndIgnoresThem) {
  const std::vector<double> a{3, -2, 1}, b{-6, 5, -4};
  const AgreementValues values = agreement_of(a, b, {}, {.magnitudes = true});
  EXPECT_NEAR(*values[0], 1, 1e-12);
  EXPECT_EQ(values[2], 1);
  EXPECT_FALSE(values[3]);
  EXPECT_FALSE(values[5]);
  EXPECT_NEAR(*agreement_of(a, b, {}, {})[0], -1, 1e-12);
  for (const auto& value : agreement_of({1, kNotANumber}, {1, 2}, {}, {})) EXPECT_FALSE(value);
  for (const auto& value : agreement_of({}, {}, {}, {})) EXPECT_FALSE(value);
}

// [CLS] a good film [SEP] fine [SEP], the last of a second text.
Explanation tokens_of_two_texts() {
  Explanation explanation;
  explanation.units = {{.text = "[CLS]", .special = true},
                       {.text = "a", .start = 0, .end = 1},
                       {.text = "good", .start = 2, .end = 6},
                       {.text = "film", .start = 7, .end = 11},
                       {.text = "[SEP]", .start = 2, .end = 6, .special = true},
                       {.text = "fine", .start = 0, .end = 4, .segment = 1}};
  return explanation;
}

TEST(KnownRegions, SpansMarkTheTokensThatTheyOverlap) {
  const Explanation explanation = tokens_of_two_texts();
  EXPECT_THAT(region_of_spans({{2, 6}})(explanation),
              ElementsAre(false, false, true, false, false, false));
  // One character of a token is enough; a neighbour's edge is not.
  EXPECT_THAT(region_of_spans({{5, 8}})(explanation),
              ElementsAre(false, false, true, true, false, false));
  EXPECT_THAT(region_of_spans({{1, 2}, {6, 7}})(explanation),
              ElementsAre(false, false, false, false, false, false));
  EXPECT_THAT(region_of_spans({{0, 1}, {0, 1, 1}})(explanation),
              ElementsAre(false, true, false, false, false, true));
  EXPECT_THAT(region_of_spans({})(explanation),
              ElementsAre(false, false, false, false, false, false));
}

// A class token and 2 x 2 patches over the middle of a picture of 6 x 4 pixels: columns 1 to 4.
Explanation four_patches() {
  Explanation explanation;
  explanation.units.resize(5);
  explanation.picture = PictureView{.width = 4,
                                    .height = 4,
                                    .first_patch = 1,
                                    .rows = 2,
                                    .columns = 2,
                                    .file_width = 6,
                                    .file_height = 4,
                                    .left = 1,
                                    .top = 0,
                                    .right = 5,
                                    .bottom = 4};
  return explanation;
}

PicturePixels grey_mask(int64_t width, const std::string& rows) {
  const auto count = static_cast<int64_t>(rows.size());
  std::shared_ptr<uint8_t[]> pixels(new uint8_t[rows.size()]);
  for (int64_t i = 0; i < count; ++i) pixels[i] = rows[i] == '#' ? 1 : 0;
  return {"mask", width, count / width, 1, pixels};
}

TEST(KnownRegions, MasksMarkThePatchesThatTheyCoverByHalf) {
  // Two, one, four and no pixels of the patches; the outer columns were not seen.
  const PicturePixels mask = grey_mask(6,
                                       "##...#"
                                       "##..##"
                                       "###..#"
                                       "###..#");
  EXPECT_THAT(region_of_mask(mask)(four_patches()), ElementsAre(false, true, false, true, false));
  EXPECT_THAT(region_of_mask(grey_mask(6, std::string(24, '.')))(four_patches()),
              ElementsAre(false, false, false, false, false));
}

TEST(KnownRegions, MasksOfAnotherSizeAreRefused) {
  const KnownRegion region = region_of_mask(grey_mask(4, std::string(16, '#')));
  try {
    region(four_patches());
    FAIL() << "the mask was taken";
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "the mask has 4 x 4 pixels, the picture 6 x 4");
  }
}

EvaluationRequest built_in_request(const std::vector<std::string>& methods) {
  EvaluationRequest request{
      .metrics = {"comprehensiveness", "sufficiency", "deletion", "faithfulness-correlation",
                  "infidelity", "complexity", "max-sensitivity", "pointing-game"},
      .random_rankings = 3,
      .noisy_inputs = 2};
  for (const std::string& method : methods) request.explain.methods.push_back({method});
  return request;
}

EvaluationInput sentence() {
  return {.name = "sentence",
          .input = TextInput{"a charming and often affecting journey", {}},
          .region = region_of_spans({{2, 10}})};
}

TEST(Evaluate, AsksEachQuestionOnceAndSaysTheSameOfMethodsTogetherAndAlone) {
  const std::vector<std::string> methods{"gradient-x-input", "raw-attention", "leave-one-out"};
  const Model model = Model::built_in();
  const EvaluatedInput together = evaluate(model, sentence(), built_in_request(methods));
  EXPECT_EQ(together.problem, "");
  ASSERT_EQ(together.methods.size(), 4u);
  EXPECT_EQ(together.methods[3].method, kRandomBaseline);
  EXPECT_EQ(together.units, 6);
  EXPECT_LE(together.evaluations, 64);
  int64_t sum = 0;
  for (size_t i = 0; i < methods.size(); ++i) {
    const EvaluatedInput alone = evaluate(model, sentence(), built_in_request({methods[i]}));
    EXPECT_LE(alone.evaluations, together.evaluations);
    sum += alone.evaluations;
    ASSERT_EQ(alone.methods.size(), 2u);
    ASSERT_EQ(alone.methods[0].values.size(), 8u);
    EXPECT_EQ(alone.methods[0].scores, together.methods[i].scores);
    EXPECT_EQ(alone.methods[0].values, together.methods[i].values);
  }
  EXPECT_LT(together.evaluations, sum);
  EXPECT_TRUE(together.methods[0].values[6]);   // noise changes what gradients read
  EXPECT_FALSE(together.methods[2].values[6]);  // leave-one-out does not read it
}

TEST(Evaluate, WithoutReversedRankingsTheOthersStayAndLessIsAsked) {
  const Model model = Model::built_in();
  EvaluationRequest request = built_in_request({"gradient-x-input"});
  // What the reversed ranking asks, insertion and other metrics ask, too.
  request.metrics = {"comprehensiveness"};
  request.random_rankings = 1;
  const EvaluatedInput both = evaluate(model, sentence(), request);
  request.reversed_rankings = false;
  const EvaluatedInput one = evaluate(model, sentence(), request);
  for (size_t i = 0; i < 2; ++i) {  // the method and the random baseline
    EXPECT_EQ(one.methods[i].values, both.methods[i].values);
    EXPECT_EQ(both.methods[i].reversed.size(), 1u);
    EXPECT_TRUE(one.methods[i].reversed.empty());
  }
  EXPECT_LT(one.evaluations, both.evaluations);
}

TEST(Evaluate, MetricsThatNeedARegionAreUndefinedWithoutOne) {
  EvaluationInput input = sentence();
  const Model model = Model::built_in();
  EXPECT_TRUE(evaluate(model, input, built_in_request({"leave-one-out"})).methods[0].values[7]);
  input.region = region_of_spans({});  // an empty rationale
  EXPECT_FALSE(evaluate(model, input, built_in_request({"leave-one-out"})).methods[0].values[7]);
  input.region = {};
  EXPECT_FALSE(evaluate(model, input, built_in_request({"leave-one-out"})).methods[0].values[7]);
}

TEST(Evaluate, WhatCannotBeEvaluatedIsTheInputsProblem) {
  const Model model = Model::built_in();
  const auto request = built_in_request({"leave-one-out"});
  const EvaluatedInput row =
      evaluate(model, {.name = "row", .input = RowInput{{"x"}, {1}}}, request);
  EXPECT_NE(row.problem, "");
  EvaluationInput input = sentence();
  input.region = [](const Explanation&) { return std::vector<bool>{true}; };
  const EvaluatedInput short_region = evaluate(model, input, request);
  EXPECT_EQ(short_region.problem, "");
  EXPECT_THAT(short_region.notes, Contains(HasSubstr("region has 1 entries for 8 units")));
  EXPECT_TRUE(short_region.methods[0].values[0]) << "what needs no region is kept";
  EvaluationInput one_word{.name = "one", .input = TextInput{"good", {}}};
  const EvaluatedInput one = evaluate(model, one_word, request);
  EXPECT_EQ(one.problem, "");
  for (const MetricValue& value : one.methods[0].values) {
    EXPECT_TRUE(!value || std::isfinite(*value));
  }
}

TEST(Evaluate, MistakesOfTheRequestAreRefused) {
  const Model model = Model::built_in();
  auto request = built_in_request({"leave-one-out"});
  request.metrics = {"faithfulness"};
  EXPECT_THROW(evaluate(model, sentence(), request), InvalidInput);
  request.metrics = {};
  EXPECT_THROW(evaluate(model, sentence(), request), InvalidInput);
  EXPECT_THROW(evaluate(model, sentence(), built_in_request({"no-method"})), InvalidInput);
  const auto twice = built_in_request({"leave-one-out", "leave-one-out"});
  EXPECT_THROW(evaluate(model, sentence(), twice), InvalidInput);
}

TEST(AgreementInputs, HaveScoresOfOrdinaryUnitsAndASecondSeedWhereMethodsDraw) {
  AgreementRequest request;
  request.explain.methods = {{"gradient-x-input"}, {"smooth-grad", {{"samples", int64_t{3}}}}};
  const AgreementInput found =
      agreement_input(Model::built_in(), "sentence", TextInput{"a charming journey", {}}, request);
  EXPECT_EQ(found.problem, "");
  ASSERT_EQ(found.scores.size(), 2u);
  EXPECT_EQ(found.scores[0].size(), 3u);
  EXPECT_THAT(found.again[0], IsEmpty());
  ASSERT_EQ(found.again[1].size(), 3u);
  EXPECT_NE(found.again[1], found.scores[1]);
  request.explain.methods[0] = {"smooth-grad"};  // with other options it is not told apart
  EXPECT_THROW(agreement_input(Model::built_in(), "", TextInput{"good", {}}, request),
               InvalidInput);
  request.explain.methods.pop_back();
  EXPECT_THROW(agreement_input(Model::built_in(), "", TextInput{"good", {}}, request),
               InvalidInput);
}

}  // namespace
}  // namespace whyformer
