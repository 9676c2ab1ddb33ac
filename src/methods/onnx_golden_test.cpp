// The same weights as a HuggingFace folder and as an ONNX file, exported in several ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "methods/method.h"
#include "ops/ops.h"
#include "tests/support/golden_model.h"
#include "tests/support/hiding_test_helpers.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

Run explained_by(const GoldenModel& golden, const GoldenInput& input, DType dtype) {
  Run explained = run_of(*golden.model, input.encoding(),
                         {.head = golden.head(),
                          .needs = {.attention = true,
                                    .attention_gradient = true,
                                    .embedding_gradient = true,
                                    .values = true},
                          .dtype = dtype});
  explained.set_target(input.targets[0]);
  return explained;
}

double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

void expect_the_same_scores_by_every_method(const GoldenModel& folder, const GoldenModel& onnx) {
  for (const GoldenInput& input : folder.inputs) {
    if (!input.batch.hidden.empty() || input.size() > 1) continue;
    for (const Method* method : catalogue()) {
      SCOPED_TRACE(input.name + " " + std::string(method->info.name));
      Run expected = explained_by(folder, input, DType::kFloat64);
      Run found = explained_by(onnx, input, DType::kFloat64);
      const OptionReader options = complete_options(*method, small_budget(*method));
      const std::vector<double> a = method->run(expected, options).values;
      const std::vector<double> b = method->run(found, options).values;
      ASSERT_EQ(a.size(), b.size());
      // Exporters round scales and epsilons to 32 bits.
      for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * largest(a)) << i;
    }
  }
}

class OnnxTextGolden : public testing::TestWithParam<const char*> {};

TEST_P(OnnxTextGolden, GivesTheSameScoresByEveryMethod) {
  expect_the_same_scores_by_every_method(GoldenModel(GetParam()),
                                         GoldenModel::from_onnx(GetParam()));
}

// Its reshapes know of one text only: copies that run together would become one long text.
TEST(OnnxText, MadeForOneTextAtATimeGivesTheSameScoresByEveryMethod) {
  const GoldenModel onnx = GoldenModel::from_onnx("distilbert", "-one-text");
  EXPECT_EQ(onnx.model->source().max_at_once(), 1);
  expect_the_same_scores_by_every_method(GoldenModel("distilbert"), onnx);
}

TEST_P(OnnxTextGolden, GivesTheSameOutputsInBatchesAndWithHiddenTokens) {
  const GoldenModel folder(GetParam());
  const GoldenModel onnx = GoldenModel::from_onnx(GetParam());
  for (const GoldenInput& input : folder.inputs) {
    SCOPED_TRACE(input.name);
    const TextShape key{.batch = input.size(),
                        .tokens = input.tokens(),
                        .masked = !input.batch.hidden.empty(),
                        .head = folder.head()};
    std::vector<std::vector<double>> outputs;
    for (const GoldenModel* golden : {&folder, &onnx}) {
      const auto graph = golden->model->graph(key);
      const Pass pass = run(graph->graph, golden->model->feeds(*graph, input.batch),
                            {.outputs = {graph->output}});
      outputs.push_back(pass[graph->output].to_doubles());
    }
    ASSERT_EQ(outputs[0].size(), outputs[1].size());
    for (size_t i = 0; i < outputs[0].size(); ++i) {
      EXPECT_NEAR(outputs[0][i], outputs[1][i], 1e-5 * std::max(1.0, largest(outputs[0]))) << i;
    }
  }
}

TEST_P(OnnxTextGolden, IsReadOutAlikeAndSharesWeightsBetweenLengths) {
  const GoldenModel folder(GetParam());
  const GoldenModel onnx = GoldenModel::from_onnx(GetParam());
  const auto expected = folder.model->graph({.tokens = 5, .head = folder.head()});
  const auto found = onnx.model->graph({.tokens = 5, .head = folder.head()});
  EXPECT_EQ(found->found.sites.size(), expected->found.sites.size());
  EXPECT_EQ(found->found.read_out.kind, expected->found.read_out.kind);
  EXPECT_EQ(found->found.read_out.row, expected->found.read_out.row);
  const auto longer = onnx.model->graph({.tokens = 7, .head = folder.head()});
  const auto linears = [](const Graph& graph) {
    std::vector<const LinearWeights*> all;
    for (const Node& node : graph.nodes()) {
      if (is_a<ops::Linear>(*node.op)) all.push_back(linear_weights(*node.op));
    }
    return all;
  };
  EXPECT_FALSE(linears(found->graph).empty());
  EXPECT_EQ(linears(found->graph), linears(longer->graph));
}

// It rounds by the span that its numbers have while it runs: that of each input, whatever runs
// beside it.
TEST(OnnxText, RoundedWhileItRunsGivesTheSameBitsWhateverTheMemory) {
  for (const std::string file : {"bert_fused_dynamic", "bert_dynamic_as_run"}) {
    GoldenModel golden("bert");
    OnnxDocument document =
        open_onnx(source_folder() / "tests/golden/onnx_optimised" / (file + ".onnx"));
    document.files = golden_files("bert");
    golden.model = TestText::load(document, file);
    EXPECT_GT(golden.model->source().max_at_once(), 1);
    GoldenInput input = golden.inputs[0];
    input.batch.ids = {{2, 27, 30, 5, 16, 33, 3}};
    for (const Method* method : catalogue()) {
      const std::set<std::string_view> sampling{"leave-one-out",  "integrated-gradients",
                                                "smooth-grad",    "kernel-shap",
                                                "partition-shap", "lime"};
      if (!sampling.contains(method->info.name)) continue;
      SCOPED_TRACE(file + " " + std::string(method->info.name));
      std::vector<std::vector<double>> scores;
      for (const int64_t memory : {int64_t{1}, int64_t{300'000}, int64_t{1} << 30}) {
        auto explained =
            run_of(*golden.model, input.encoding(),
                   {.needs = {.embedding_gradient = true, .values = true}, .memory_bytes = memory});
        explained.set_target(0);
        scores.push_back(
            method->run(explained, complete_options(*method, small_budget(*method))).values);
      }
      EXPECT_EQ(scores[0], scores[1]);
      EXPECT_EQ(scores[0], scores[2]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, OnnxTextGolden,
                         testing::Values("albert-shared", "bert", "bert-gelu-new",
                                         "bert-mean-pooling", "bert-multi-label", "distilbert",
                                         "electra", "roberta"));

}  // namespace
}  // namespace whyformer
