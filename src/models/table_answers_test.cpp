#include "models/table_answers.h"

#include <gmock/gmock.h>

#include <cmath>

#include "graph/pass.h"
#include "ops/ops.h"
#include "run/output_space.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using TaskKind = TaskSpec::Kind;
using TaskOutput = TaskSpec::Output;
using testing::ElementsAre;

// What is shown of a model's answers for one row.
std::vector<double> shown_of(const TableAnswers& answers, const std::vector<double>& raw) {
  GraphBuilder builder;
  const Value input =
      builder.input("answers", {1, static_cast<int64_t>(raw.size())}, DType::kFloat64);
  const Value output = answers.presented(builder, input);
  const Graph graph = builder.finish();
  if (output == input) return raw;
  const Tensor given = Tensor::of<double>({1, static_cast<int64_t>(raw.size())}, raw);
  return run(graph, {{input, given}}, {.outputs = {output}})[output].to_doubles();
}

TEST(TableAnswers, ProbabilitiesBecomeLogitsThatGiveThem) {
  struct Case {
    TaskKind kind;
    std::vector<double> raw, probabilities;
  };
  const std::vector<Case> cases{{TaskKind::kBinary, {0.8}, {0.2, 0.8}},
                                {TaskKind::kBinary, {0.3, 0.7}, {0.3, 0.7}},
                                {TaskKind::kMulticlass, {0.1, 0.2, 0.7}, {0.1, 0.2, 0.7}},
                                {TaskKind::kMultilabel, {0.9, 0.4}, {0.9, 0.4}}};
  for (const Case& one : cases) {
    const TableAnswers answers({.kind = one.kind, .output = TaskOutput::kProbabilities},
                               static_cast<int64_t>(one.raw.size()));
    const std::vector<double> shown = shown_of(answers, one.raw);
    const std::vector<double> found = probabilities_of(shown, answers.problem());
    ASSERT_EQ(found.size(), one.probabilities.size());
    const std::vector<double> back = answers.raw(shown);
    ASSERT_EQ(back.size(), one.raw.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], one.probabilities[i], 1e-12);
    for (size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], one.raw[i], 1e-12);
    EXPECT_THAT(answers.notes(), testing::Contains(testing::HasSubstr("gives probabilities")));
  }
}

TEST(TableAnswers, ProbabilitiesThatAreRoundedToZeroOrOneStayFinite) {
  const TableAnswers answers({.kind = TaskKind::kBinary, .output = TaskOutput::kProbabilities}, 1);
  for (const double p : {0.0, 1.0}) {
    for (const double logit : shown_of(answers, {p})) EXPECT_TRUE(std::isfinite(logit)) << p;
  }
}

TEST(TableAnswers, OneLogitIsShownFromBothSidesAndARegressionInItsUnit) {
  const TableAnswers binary({.kind = TaskKind::kBinary, .labels = {"no", "yes"}}, 1);
  EXPECT_THAT(shown_of(binary, {1.5}), ElementsAre(-1.5, 1.5));
  EXPECT_THAT(binary.raw({-1.5, 1.5}), ElementsAre(1.5));
  EXPECT_EQ(binary.problem(), Problem::kOneLogit);
  EXPECT_THAT(binary.notes(), testing::IsEmpty());
  EXPECT_THAT(TableAnswers({.kind = TaskKind::kBinary}, 1).notes(),
              ElementsAre(testing::HasSubstr("no labels")));
  const TableAnswers regression({.kind = TaskKind::kRegression, .mean = 100, .std = 20}, 1);
  EXPECT_THAT(shown_of(regression, {0.5}), ElementsAre(110));
  EXPECT_THAT(regression.raw({110}), ElementsAre(0.5));
}

TEST(TableAnswers, LabelsThatAreNotThoseOfTheModelAreRefused) {
  EXPECT_THAT([] { TableAnswers({.kind = TaskKind::kMulticlass, .labels = {"a", "b"}}, 3); },
              testing::ThrowsMessage<UnsupportedModel>(
                  testing::HasSubstr("2 labels, but the model has 3 outputs")));
  EXPECT_THAT([] { TableAnswers({.kind = TaskKind::kBinary, .output = TaskOutput::kOneLogit}, 2); },
              testing::ThrowsMessage<UnsupportedModel>(testing::HasSubstr("one logit")));
}

}  // namespace
}  // namespace whyformer
