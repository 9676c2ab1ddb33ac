// What must hold of relevance on any network (specification §§7.3, 8.4, 9, 11.4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "methods/method.h"
#include "ops/ops.h"
#include "tensor/map.h"
#include "tests/support/golden_model.h"
#include "tests/support/walk_relevance.h"
#include "whyformer/error.h"
#include "whyformer/relevance.h"

namespace whyformer {
namespace {

using Doubles = std::vector<double>;

Run explained_in_double(const TestText& model, const GoldenInput& input, int64_t target) {
  Run explained = run_of(model, input.encoding(),
                         {.needs = {.attention = true, .attention_gradient = true, .values = true},
                          .dtype = DType::kFloat64});
  explained.set_target(target);
  return explained;
}

Doubles scores_of(Run& explained, const char* name, const Options& options = {}) {
  const Method& method = find_method(name);
  return method.run(explained, complete_options(method, options)).values;
}

double largest_relevance(const Doubles& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

Run::RelevanceKind noted(const char* policy) {
  return {.policy = policy, .notes = RelevanceWalk::Notes::kFlows};
}

ChangeWeights scaled_classifier(float factor) {
  return [factor](std::map<std::string, std::vector<float>>& weights) {
    for (const char* name : {"classifier.weight", "classifier.bias"}) {
      for (float& value : weights.at(name)) value *= factor;
    }
  };
}

class RelevanceInvariants : public testing::TestWithParam<std::string> {};

TEST_P(RelevanceInvariants, TotalIsOneAtEveryLayerUnderChefer) {
  const GoldenModel golden(GetParam());
  const GoldenInput& input = golden.input("single");
  auto explained = explained_in_double(*golden.model, input, 0);
  const std::vector<NodeFlow>& flows = explained.relevance_flows(noted("chefer"));
  int boundaries = 0;
  for (const NodeFlow& flow : flows) {
    const Node& node = explained.graph().graph.nodes()[flow.node];
    if (!is_a<ops::LayerNorm>(*node.op) || node.name.find("ayer") == std::string::npos) continue;
    if (node.name.find("embeddings") != std::string::npos) continue;
    EXPECT_NEAR(flow.entering.plain, 1, 1e-7 * flow.entering.magnitude) << node.name;
    ++boundaries;
  }
  EXPECT_GE(boundaries, 2 * explained.layers());
  const Tensor first = explained.embedding_relevance({"chefer"}, Depth::kFirstLayer);
  EXPECT_NEAR(sums_of(first).plain, 1, 1e-7 * sums_of(first).magnitude);
}

TEST_P(RelevanceInvariants, NoOperatorLosesRelevanceUnderCheferAboveTheEmbeddings) {
  const GoldenModel golden(GetParam());
  auto explained = explained_in_double(*golden.model, golden.input("single"), 0);
  const std::vector<NodeFlow>& flows = explained.relevance_flows(noted("chefer"));
  for (const NodeFlow& flow : flows) {
    const Node& node = explained.graph().graph.nodes()[flow.node];
    if (node.name.find("embeddings") != std::string::npos) continue;
    const double size = std::max(flow.entering.magnitude, flow.leaving.magnitude);
    EXPECT_NEAR(flow.leaving.plain, flow.entering.plain, 1e-6 * size) << node.name;
  }
}

TEST_P(RelevanceInvariants, ExplicitAttnLrpEqualsGradientTimesInput) {
  const GoldenModel golden(GetParam());
  for (const char* policy : {"attn-lrp", "cp-lrp", "cp-lrp-derivative"}) {
    auto explained = explained_in_double(*golden.model, golden.input("single"), 0);
    for (const Depth depth : {Depth::kFirstLayer, Depth::kInput}) {
      const Doubles gradient =
          explained.embedding_relevance({policy, RelevanceForm::kGradient}, depth).to_doubles();
      const Doubles rules =
          explained.embedding_relevance({policy, RelevanceForm::kExplicit}, depth).to_doubles();
      for (size_t i = 0; i < rules.size(); ++i) {
        ASSERT_NEAR(rules[i], gradient[i], 1e-7 * largest_relevance(gradient)) << policy;
      }
    }
  }
}

TEST_P(RelevanceInvariants, NothingReachesQueriesAndKeysUnderCpLrp) {
  const GoldenModel golden(GetParam());
  auto explained = explained_in_double(*golden.model, golden.input("single"), 0);
  const std::vector<NodeFlow>& flows = explained.relevance_flows(noted("cp-lrp"));
  const Graph& graph = explained.graph().graph;
  for (const NodeFlow& flow : flows) {
    EXPECT_FALSE(is_a<ops::MatMul>(*graph.nodes()[flow.node].op) &&
                 flow.rule != RuleKind::kProportional);
    EXPECT_THAT(graph.nodes()[flow.node].name, testing::Not(testing::HasSubstr("query")));
    EXPECT_THAT(graph.nodes()[flow.node].name, testing::Not(testing::HasSubstr("key")));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, RelevanceInvariants,
                         testing::Values("bert", "bert-relu", "roberta", "electra",
                                         "albert-shared"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(CpLrp, WithoutBiasesSumsToTheLogitAtTheFirstLayer) {
  const GoldenModel golden("bert", [](std::map<std::string, std::vector<float>>& weights) {
    for (auto& [name, values] : weights) {
      if (name.ends_with("bias")) std::fill(values.begin(), values.end(), 0.0f);
    }
  });
  for (int64_t target = 0; target < 2; ++target) {
    auto explained = explained_in_double(*golden.model, golden.input("single"), target);
    const Tensor relevance = explained.embedding_relevance({"cp-lrp"}, Depth::kFirstLayer);
    EXPECT_NEAR(sums_of(relevance).plain, explained.target_value(),
                1e-9 * sums_of(relevance).magnitude);
  }
}

TEST(TransformerAttribution, ScalesWithTheLogitAndKeepsRelevance) {
  const GoldenModel golden("bert");
  const GoldenModel tripled("bert", scaled_classifier(3));
  auto once = explained_in_double(*golden.model, golden.input("single"), 1);
  auto thrice = explained_in_double(*tripled.model, golden.input("single"), 1);
  const Options last{{"blocks", std::string("last")}};
  const Doubles small = scores_of(once, "transformer-attribution", last);
  const Doubles large = scores_of(thrice, "transformer-attribution", last);
  for (size_t i = 0; i < small.size(); ++i) {
    EXPECT_NEAR(large[i], 3 * small[i], 1e-6 * largest_relevance(large));
    EXPECT_GE(small[i], 0);
  }
  const Doubles r1 = once.attention_relevance({"chefer"}, 0).to_doubles();
  const Doubles r3 = thrice.attention_relevance({"chefer"}, 0).to_doubles();
  for (size_t i = 0; i < r1.size(); ++i) EXPECT_NEAR(r3[i], r1[i], 1e-6 * largest_relevance(r1));
}

TEST(TransformerAttribution, OfSmallLogitsIsTheSumOfItsLayers) {
  const GoldenModel golden("bert", scaled_classifier(1e-6f));
  auto explained = explained_in_double(*golden.model, golden.input("single"), 1);
  ASSERT_EQ(explained.layers(), 2);
  const Doubles product = scores_of(explained, "transformer-attribution");
  const Doubles last =
      scores_of(explained, "transformer-attribution", {{"blocks", std::string("last")}});
  const Doubles first =
      scores_of(explained, "transformer-attribution", {{"blocks", std::string("second")}});
  EXPECT_EQ(first, last);  // with two layers the second is the last
  auto other = explained_in_double(*golden.model, golden.input("single"), 1);
  const Tensor gradient = other.attention_gradient(0),
               relevance = other.attention_relevance({"chefer"}, 0);
  const auto n = static_cast<size_t>(other.tokens());
  for (size_t j = 1; j < n; ++j) {
    double lower = 0;
    for (int64_t head = 0; head < gradient.dim(0); ++head) {
      lower += std::max(
          0.0, gradient.to_doubles()[head * n * n + j] * relevance.to_doubles()[head * n * n + j]);
    }
    lower /= static_cast<double>(gradient.dim(0));
    EXPECT_NEAR(product[j], last[j] + lower, 1e-4 * largest_relevance(product));
  }
}

TEST(Relevance, ASecondSampleChangesNothing) {
  const GoldenModel golden("bert");
  const GoldenInput& single = golden.input("single");
  GoldenInput both = single;
  both.batch.ids.push_back(single.batch.ids[0]);
  for (size_t i = 1; i + 1 < both.batch.ids[1].size(); ++i)
    both.batch.ids[1][i] = 7 + static_cast<int64_t>(i);
  both.batch.types.push_back(single.batch.types[0]);
  const auto relevance = [&](const GoldenInput& input, const char* policy) {
    const auto graph = golden.model->graph(
        {.batch = input.size(), .tokens = input.tokens(), .dtype = DType::kFloat64});
    const Pass pass = run(graph->graph, golden.model->feeds(*graph, input.batch),
                          {.keep = Keep::kEverything, .outputs = {graph->output}});
    const std::vector<int64_t> targets(input.size(), 0);
    return walk_relevance(graph->graph, pass, graph->output, targets, policy_named(policy),
                          RelevanceForm::kExplicit, {graph->layers_input})
        .at(graph->layers_input)
        .select(0, 0)
        .to_doubles();
  };
  for (const std::string& policy : policy_names()) {
    EXPECT_EQ(relevance(single, policy.c_str()), relevance(both, policy.c_str())) << policy;
  }
}

TEST(RelevanceReport, NamesTheOperatorThatAddsRelevance) {
  const RelevanceReport report =
      relevance_report(Model::built_in(), TextInput{"A gripping film", {}}, "lrp-orig");
  EXPECT_DOUBLE_EQ(report.seed, 1);
  bool found = false;
  for (const RelevanceStep& step : report.steps) {
    if (step.rule == "positive-by-sign" && step.entering_magnitude > 0) {
      found = found || step.leaving_magnitude > 1.5 * step.entering_magnitude;
    }
    if (step.rule == "identity") {
      EXPECT_NEAR(step.loss(), 0, 1e-6) << step.node;
    }
  }
  EXPECT_TRUE(found) << "under lrp-orig, Linear gives both sign groups everything";
}

TEST(RelevanceReport, OfAnUnknownPolicyIsRefused) {
  EXPECT_THROW(relevance_report(Model::built_in(), TextInput{"A film", {}}, "nope"), InvalidInput);
  EXPECT_THROW(relevance_report(Model::built_in(), TextInput{"A film", {}}, "nope.json"),
               FileError);
}

}  // namespace
}  // namespace whyformer
