#include "studies/heads/pruning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/heads_test_helpers.h"

namespace whyformer {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

std::vector<double> outputs_of(const GoldenModel& golden, const std::vector<HeadName>& pruned) {
  const GoldenInput& input = golden.input("pair");
  const auto graph = golden.model->graph({.tokens = input.tokens(), .dtype = DType::kFloat64});
  return outputs_without(*graph, golden.model->feeds(*graph, input.batch), pruned).to_doubles();
}

TEST(Pruning, EqualsAModelWhoseOutputProjectionIgnoresTheHeads) {
  const GoldenModel golden("bert");
  const std::vector<std::vector<HeadName>> sets{
      {{0, 0}}, {{0, 1}}, {{1, 0}}, {{0, 1}, {1, 0}}, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}};
  for (const std::vector<HeadName>& pruned : sets) {
    const GoldenModel changed("bert", [&](auto& weights) {
      for (const HeadName& name : pruned) forget_head(weights, name.layer, name.head, 24, 12);
    });
    EXPECT_THAT(outputs_of(golden, pruned), Pointwise(DoubleNear(1e-13), outputs_of(changed, {})));
    EXPECT_NE(outputs_of(golden, pruned), outputs_of(golden, {}));
  }
}

TEST(Pruning, OfNothingChangesNoBit) {
  const GoldenModel golden("bert");
  const GoldenInput& input = golden.input("pair");
  const auto graph = golden.model->graph({.tokens = input.tokens(), .dtype = DType::kFloat64});
  const Pass plain =
      run(graph->graph, golden.model->feeds(*graph, input.batch), {.outputs = {graph->output}});
  EXPECT_EQ(outputs_of(golden, {}), plain[graph->output].to_doubles());
}

TEST(PruningOrder, AscendsOverAllLayers) {
  EXPECT_THAT(pruning_order({{0.5, 0.1}, {0.3, 0.4}}, false),
              ElementsAre(HeadName{0, 1}, HeadName{1, 0}, HeadName{1, 1}, HeadName{0, 0}));
}

TEST(PruningOrder, MayLeaveTheHighestHeadOfEachLayer) {
  EXPECT_THAT(pruning_order({{0.5, 0.1}, {0.3, 0.4}}, true),
              ElementsAre(HeadName{0, 1}, HeadName{1, 0}));
  EXPECT_THAT(pruning_order({{0.5}, {0.3}}, true), ElementsAre());
}

HeadImportance pruned(const GoldenModel& golden, std::vector<LabelledInput> corpus,
                      const PruneRequest& prune, Progress progress = {}) {
  HeadsRequest request{.measures = {"confidence"}, .precision = Precision::kDouble};
  request.prune = prune;
  request.progress = std::move(progress);
  return heads_of(golden, corpus, request);
}

TEST(PruningCurve, GoesFromAllHeadsToNone) {
  const GoldenModel golden("bert");
  std::vector<LabelledInput> corpus = corpus_of(golden);
  for (LabelledInput& text : corpus) text.labels.reset();
  const PruningCurve curve = *pruned(golden, corpus, {.step = 0.5}).pruning;
  ASSERT_EQ(curve.steps.size(), 3u);
  EXPECT_EQ(curve.examples, 4);
  EXPECT_EQ(curve.order.size(), 4u);
  EXPECT_EQ(curve.steps[1].pruned, 2);
  EXPECT_EQ(curve.steps[2].pruned, 4);
  EXPECT_EQ(curve.steps[0].accuracy, 1) << "without labels the model agrees with itself";
  EXPECT_EQ(curve.steps[0].random_accuracy, 1);
  EXPECT_EQ(curve.steps[2].accuracy, curve.steps[2].random_accuracy) << "the order is all gone";
}

TEST(PruningCurve, CountsTheTextsThatEachSetOfHeadsStillAnswers) {
  const GoldenModel golden("bert");
  const std::vector<LabelledInput> corpus = corpus_of(golden);
  const PruningCurve curve = *pruned(golden, corpus, {.step = 0.25}).pruning;
  ASSERT_EQ(curve.steps.size(), 5u);
  for (size_t gone = 0; gone < curve.steps.size(); ++gone) {
    int right = 0;
    for (const LabelledInput& text : corpus) {
      const GoldenInput& input = golden.input(text.place);
      const GoldenModel changed("bert", [&](auto& weights) {
        for (size_t i = 0; i < gone; ++i) {
          forget_head(weights, curve.order[i].layer, curve.order[i].head, 24, 12);
        }
      });
      const auto graph = changed.model->graph({.tokens = input.tokens(), .dtype = DType::kFloat64});
      const std::vector<double> outputs =
          run(graph->graph, changed.model->feeds(*graph, input.batch),
              {.outputs = {graph->output}})[graph->output]
              .to_doubles();
      const auto best = std::max_element(outputs.begin(), outputs.end()) - outputs.begin();
      right += std::to_string(best) == (*text.labels)[0];
    }
    EXPECT_EQ(curve.steps[gone].accuracy, right / 4.0) << gone;
  }
}

TEST(PruningCurve, KeepsAHeadPerLayerIfAsked) {
  const GoldenModel golden("bert");
  const PruningCurve curve =
      *pruned(golden, corpus_of(golden), {.step = 0.25, .keep_one = true}).pruning;
  ASSERT_EQ(curve.steps.size(), 3u);
  EXPECT_EQ(curve.steps.back().pruned, 2);
  EXPECT_NE(curve.order[0].layer, curve.order[1].layer);
}

TEST(PruningCurve, TellsOnHowManyTextsItIsMeasuredWhereItWasStopped) {
  const GoldenModel golden("bert");
  int64_t all = 0;
  pruned(golden, corpus_of(golden), {.step = 0.5}, [&](int64_t, int64_t total) {
    all = total;
    return true;
  });
  EXPECT_EQ(all, 4 + 4 * 6) << "every text alone, then in three steps of two orders";
  const HeadImportance stopped = pruned(golden, corpus_of(golden), {.step = 0.5},
                                        [](int64_t done, int64_t) { return done < 4 + 8; });
  EXPECT_TRUE(stopped.stopped_early);
  EXPECT_EQ(stopped.examples, 4);
  EXPECT_EQ(stopped.pruning->examples, 1);
  EXPECT_THAT(stopped.notes,
              testing::Contains("Stopped early: accuracies are those of 1 of 4 texts."));
}

}  // namespace
}  // namespace whyformer
