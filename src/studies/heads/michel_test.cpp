#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/pass.h"
#include "tests/support/heads_test_helpers.h"

namespace whyformer {
namespace {

HeadsRequest not_normalised() { return {.michel_scale = LayerScale::kNone}; }

double loss(Problem problem, const std::vector<double>& outputs, int64_t label) {
  const auto count = static_cast<double>(outputs.size());
  double sum = 0;
  switch (problem) {
    case Problem::kSingleLabel:
      for (const double value : outputs) sum += std::exp(value);
      return std::log(sum) - outputs[label];
    case Problem::kOneLogit:
    case Problem::kMultiLabel:
      for (size_t i = 0; i < outputs.size(); ++i) {
        const double p = 1 / (1 + std::exp(-outputs[i]));
        sum -= std::log(static_cast<int64_t>(i) == label ? p : 1 - p);
      }
      return sum / count;
    case Problem::kRegression:
      break;
  }
  return (outputs[0] - static_cast<double>(label)) * (outputs[0] - static_cast<double>(label));
}

// The loss of one text when a head's attention, and so its output, is multiplied by a factor.
class ScaledHead {
 public:
  ScaledHead(const GoldenModel& golden, const GoldenInput& input)
      : golden_(golden),
        input_(input),
        graph_(golden.model->graph({.tokens = input.tokens(), .dtype = DType::kFloat64})),
        pass_(run(graph_->graph, golden.model->feeds(*graph_, input.batch),
                  {.keep = Keep::kEverything, .outputs = {graph_->output}})) {}

  double slope(int layer, int head) const {
    return (loss_at(layer, head, 1 + 1e-5) - loss_at(layer, head, 1 - 1e-5)) / 2e-5;
  }

 private:
  double loss_at(int layer, int head, double factor) const {
    const Value site = graph_->found.sites[layer].attention;
    Tensor map = pass_[site].copy();
    const int64_t size = map.dim(2) * map.dim(3);
    for (int64_t i = 0; i < size; ++i) map.mutable_data<double>()[head * size + i] *= factor;
    const Pass moved = rerun(graph_->graph, pass_, {{site, map}});
    return loss(*golden_.model->problem(), moved[graph_->output].to_doubles(), input_.targets[0]);
  }

  const GoldenModel& golden_;
  const GoldenInput& input_;
  std::shared_ptr<const ModelGraph> graph_;
  Pass pass_;
};

TEST(Michel, EqualsFiniteDifferencesOfTheLossInAMaskOnTheHead) {
  for (const std::string name : {"bert", "albert-shared", "bert-multi-label", "bert-regression"}) {
    const GoldenModel golden(name);
    const ScaledHead scaled(golden, golden.input("single"));
    const HeadGrid scores =
        scores_of(golden, "michel", corpus_of(golden, {"single"}), not_normalised());
    for (size_t layer = 0; layer < scores.size(); ++layer) {
      for (size_t head = 0; head < scores[layer].size(); ++head) {
        const double slope = scaled.slope(static_cast<int>(layer), static_cast<int>(head));
        EXPECT_NEAR(scores[layer][head], std::abs(slope), 1e-8) << name << ' ' << layer << head;
        EXPECT_GT(std::abs(slope), 1e-6) << name;
      }
    }
  }
}

TEST(Michel, IsTheMeanOfMagnitudesNotTheMagnitudeOfTheMean) {
  const GoldenModel golden("bert");
  const auto of = [&](const std::vector<std::string>& names) {
    return scores_of(golden, "michel", corpus_of(golden, names), not_normalised())[0][1];
  };
  EXPECT_NEAR(of({"single", "pair"}), (of({"single"}) + of({"pair"})) / 2, 1e-15);
}

TEST(Michel, GivesAHeadThatNobodyReadsNothing) {
  const GoldenModel golden("bert", [](auto& weights) { forget_head(weights, 0, 1, 24, 12); });
  for (const std::string measure : {"michel", "michel-positions"}) {
    const HeadGrid scores = scores_of(golden, measure, corpus_of(golden));
    EXPECT_EQ(scores[0][1], 0) << measure;
    EXPECT_GT(scores[0][0], 0) << measure;
  }
}

TEST(Michel, LayersHaveLengthOne) {
  const GoldenModel golden("roberta");
  for (const std::string measure : {"michel", "michel-positions"}) {
    for (const std::vector<double>& layer : scores_of(golden, measure, corpus_of(golden))) {
      double squares = 0;
      for (const double score : layer) squares += score * score;
      EXPECT_NEAR(squares, 1, 1e-12);
    }
  }
}

TEST(Michel, BothDefinitionsAgreeInTheLastLayerWhichIsReadInOneRow) {
  const GoldenModel golden("electra");
  const auto corpus = corpus_of(golden);
  const HeadGrid text = scores_of(golden, "michel", corpus, not_normalised());
  const HeadGrid positions = scores_of(golden, "michel-positions", corpus, not_normalised());
  EXPECT_THAT(text.back(), testing::Pointwise(testing::DoubleNear(1e-15), positions.back()));
  EXPECT_NE(text.front(), positions.front());
}

TEST(Heads, WithTheSameWeightsScoreAlike) {
  const GoldenModel golden("bert", [](auto& weights) { copy_head(weights, 1, 0, 1, 24, 12); });
  for (const HeadMeasureInfo& measure : head_measures()) {
    const HeadGrid scores = scores_of(golden, measure.name, corpus_of(golden));
    EXPECT_NEAR(scores[1][0], scores[1][1], 1e-12) << measure.name;
    EXPECT_GT(std::abs(scores[0][0] - scores[0][1]), 1e-6) << measure.name;
  }
}

}  // namespace
}  // namespace whyformer
