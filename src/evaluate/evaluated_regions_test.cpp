// Metrics of regions over several inputs, as evaluations sum them up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "whyformer/evaluation.h"

namespace whyformer {
namespace {

struct OverlapCount {
  double both = 0, either = 0;
  void add(bool a, bool b) {
    both += a && b ? 1 : 0;
    either += a || b ? 1 : 0;
  }
};

EvaluationInput sentence_with_span(const std::string& text, TextSpan span) {
  return {.name = text, .input = TextInput{text, {}}, .region = region_of_spans({span})};
}

// One token is one word of these sentences; the first and the last unit are special.
TEST(Evaluate, MeanIouSumsCellsOverInputsBeforeTheDivision) {
  const std::vector<std::string> texts{"a charming and often affecting journey", "good"};
  const std::vector<std::vector<bool>> regions{{false, true, false, false, false, false}, {true}};
  EvaluationRequest request{.metrics = {"mean-iou", "iou"}, .random_rankings = 2};
  request.explain.methods = {{"gradient-x-input"}};
  const Model model = Model::built_in();
  const std::vector<EvaluatedInput> inputs{
      evaluate(model, sentence_with_span(texts[0], {2, 10}), request),
      evaluate(model, sentence_with_span(texts[1], {0, 4}), request)};
  OverlapCount object, background;
  double own_iou = 0, reversed_both = 0, reversed_either = 0;
  for (size_t input = 0; input < inputs.size(); ++input) {
    const std::vector<double>& all = inputs[input].methods[0].scores;
    const std::vector<double> scores(all.begin() + 1, all.end() - 1);
    ASSERT_EQ(scores.size(), regions[input].size());
    const double mean =
        std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
    OverlapCount own;
    for (size_t i = 0; i < scores.size(); ++i) {
      const bool in = regions[input][i];
      object.add(scores[i] > mean, in);
      background.add(!(scores[i] > mean), !in);
      own.add(scores[i] > mean, in);
      reversed_both += scores[i] < mean && in ? 1 : 0;
      reversed_either += scores[i] < mean || in ? 1 : 0;
    }
    own_iou += own.both / own.either / 2;
  }
  const Evaluation found = summarise({}, inputs, request);
  const double expected = (object.both / object.either + background.both / background.either) / 2;
  const EvaluationCell& cell = found.cells[0][0];
  EXPECT_DOUBLE_EQ(*cell.mean, expected);
  EXPECT_NE(*cell.mean, (*inputs[0].methods[0].values[0] + *inputs[1].methods[0].values[0]) / 2);
  EXPECT_EQ(cell.inputs, 2);
  EXPECT_DOUBLE_EQ(*found.cells[0][1].mean, own_iou);  // every input counts alike
  EXPECT_EQ(inputs[0].methods[0].reversed_ratios[0][0].part +
                inputs[1].methods[0].reversed_ratios[0][0].part,
            reversed_both);
  EXPECT_EQ(inputs[0].methods[0].reversed_ratios[0][0].whole +
                inputs[1].methods[0].reversed_ratios[0][0].whole,
            reversed_either);
  EXPECT_TRUE(found.cells[1][0].mean);  // the baseline
}

TEST(Evaluate, RatiosOfSumsWithoutAWholeAreNotDefined) {
  const EvaluationRequest request{.metrics = {"mean-iou"}};
  const auto input_with = [](Ratio background) {
    MeasuredMethod method{.method = "a", .values = {1.0}};
    method.ratios = {{{3, 4}, background}};
    EvaluatedInput input{.name = "input"};
    input.methods.push_back(method);
    return input;
  };
  const std::vector<EvaluatedInput> none{input_with({0, 0}), input_with({0, 0})};
  EXPECT_FALSE(summarise({}, none, request).cells[0][0].mean) << "not 0, and not 3/8";
  const std::vector<EvaluatedInput> some{input_with({0, 0}), input_with({1, 2})};
  EXPECT_EQ(summarise({}, some, request).cells[0][0].mean, (3 / 4.0 + 1 / 2.0) / 2);
}

TEST(KnownRegions, ThatHoldAllUnitsAreTold) {
  EvaluationRequest request{.metrics = {"roc-auc", "relevance-rank"}, .random_rankings = 0};
  request.explain.methods = {{"gradient-x-input"}};
  const EvaluatedInput found =
      evaluate(Model::built_in(), sentence_with_span("a charming journey", {0, 18}), request);
  EXPECT_FALSE(found.methods[0].values[0]) << "there is nothing to tell the region from";
  EXPECT_EQ(found.methods[0].values[1], 1);
  EXPECT_THAT(found.notes, testing::ElementsAre(testing::HasSubstr("all units lie in the known")));
}

TEST(KnownRegions, MasksAreReadWhereTheyAreNeededAndAtNoOtherTime) {
  const PictureInput nowhere = PictureFile{"/no/such/mask.png"};
  EvaluationInput input{.name = "text", .input = TextInput{"a charming journey", {}}};
  add_known_mask(input, nowhere);
  EvaluationRequest request{.metrics = {"sparseness"}, .random_rankings = 0};
  request.explain.methods = {{"gradient-x-input"}};
  EXPECT_EQ(evaluate(Model::built_in(), input, request).problem, "") << "no metric reads it";
  request.metrics = {"pointing-game"};
  const EvaluatedInput found = evaluate(Model::built_in(), input, request);
  EXPECT_EQ(found.problem, "");
  EXPECT_FALSE(found.methods[0].values[0]);
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_THAT(found.notes[0], testing::AllOf(testing::HasSubstr("/no/such/mask.png"),
                                             testing::EndsWith("localisation is not defined")));
}

}  // namespace
}  // namespace whyformer
