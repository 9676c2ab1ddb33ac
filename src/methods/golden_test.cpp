// Models and methods against transformers + PyTorch (tests/golden/models).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/walk_back.h"
#include "methods/method.h"
#include "run/run.h"
#include "tests/support/golden_model.h"

namespace whyformer {
namespace {

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected,
                  double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double worst = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
    ASSERT_FALSE(std::isnan(actual[i])) << what << ", element " << i;
  }
  EXPECT_LE(worst, tolerance) << what;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

struct Tolerances {
  double logits;     // absolute
  double attention;  // absolute
  double gradient;   // of the largest entry
};

// Runs one input as it stands in the file (padding and batch included) and compares all tensors.
void compare_run(const GoldenModel& golden, const GoldenInput& input, DType dtype,
                 const Tolerances& tolerance) {
  const auto graph = golden.model->graph({.batch = input.size(),
                                          .tokens = input.tokens(),
                                          .masked = !input.batch.hidden.empty(),
                                          .head = golden.head(),
                                          .dtype = dtype});
  std::vector<Value> wanted{graph->entries[0].value, graph->embeddings};
  for (const AttentionSite& site : graph->found.sites) wanted.push_back(site.attention);
  RunOptions options{.keep = Keep::kGradients, .outputs = wanted};
  options.outputs.push_back(graph->output);
  const Pass pass = run(graph->graph, golden.model->feeds(*graph, input.batch), options);
  const std::string at = input.name + ".";
  expect_close(pass[graph->output].to_doubles(), golden.values(at + "logits"), tolerance.logits,
               at + "logits");
  Tensor seed = Tensor::zeros(graph->graph.shape(graph->output), dtype);
  for (int64_t sample = 0; sample < input.size(); ++sample) {
    seed.select(0, sample).slice(0, input.targets[sample], 1).fill(1);
  }
  const auto gradients =
      walk_back(graph->graph, pass, graph->output, seed, gradient_rule(), wanted);
  const auto compare_gradient = [&](Value value, const std::string& name) {
    const std::vector<double> expected = golden.values(at + name);
    expect_close(gradients.at(value).to_doubles(), expected,
                 tolerance.gradient * largest(expected) + 1e-12, at + name);
  };
  for (size_t layer = 0; layer < graph->found.sites.size(); ++layer) {
    const Value attention = graph->found.sites[layer].attention;
    const std::string number = std::to_string(layer);
    expect_close(pass[attention].to_doubles(), golden.values(at + "attention." + number),
                 tolerance.attention, at + "attention." + number);
    compare_gradient(attention, "attention_gradient." + number);
  }
  compare_gradient(graph->entries[0].value, "word_embedding_gradient");
  compare_gradient(graph->embeddings, "embedding_block_gradient");
}

class GoldenModels : public testing::TestWithParam<std::string> {};

TEST_P(GoldenModels, RunsAndGradientsEqualPyTorchInFloat) {
  const GoldenModel golden(GetParam());
  for (const GoldenInput& input : golden.inputs) {
    // 1e-6, or three times what PyTorch's own float32 run is away where the weights make scores
    // large.
    const double attention = std::max(1e-6, 3 * input.float32_deviation);
    compare_run(golden, input, DType::kFloat32, {1e-5, attention, 1e-4});
  }
}

TEST_P(GoldenModels, RunsAndGradientsEqualPyTorchInDouble) {
  const GoldenModel golden(GetParam());
  for (const GoldenInput& input : golden.inputs) {
    compare_run(golden, input, DType::kFloat64, {1e-10, 1e-11, 1e-9});
  }
}

// Scores of one method for the case's text `single`.
std::vector<double> scores_of(const GoldenModel& golden, const Method& method,
                              const std::vector<std::string>& options = {}) {
  const GoldenInput& input = golden.input("single");
  Run explained = run_of(*golden.model, input.encoding(),
                         {.head = golden.head(), .needs = method.needs, .memory_bytes = 1 << 20});
  explained.set_target(input.targets[0]);
  Options given;
  for (const std::string& option : options) {
    for (auto& value : parse_option(method.info, option)) given.push_back(std::move(value));
  }
  return method.run(explained, complete_options(method, given)).values;
}

void expect_scores(const GoldenModel& golden, const std::string& name, const Method& method,
                   const std::vector<std::string>& options = {}) {
  const std::vector<double> expected = golden.values("single." + name);
  expect_close(scores_of(golden, method, options), expected, 1e-4 * largest(expected), name);
}

// Expected scores cover special tokens too, which our leave-one-out keeps by design.
std::vector<double> without_special(const GoldenModel& golden, std::vector<double> scores) {
  const std::vector<bool>& special = golden.input("single").special[0];
  for (size_t i = 0; i < scores.size(); ++i) {
    if (special[i]) scores[i] = 0;
  }
  return scores;
}

TEST_P(GoldenModels, AttentionMethodsEqualTheirFormulas) {
  const GoldenModel golden(GetParam());
  // Where the mean over tokens is read, the expected scores are means over rows.
  const std::string rows = golden.model->has_classifier() ? "" : ".mean_of_rows";
  expect_scores(golden, "raw_attention" + rows, kRawAttention);
  expect_scores(golden, "rollout" + rows, kRollout);
  expect_scores(golden, "attention_flow" + rows, kAttentionFlow);
  expect_scores(golden, "grad_sam.query", kGradSam);
  expect_scores(golden, "grad_sam.key", kGradSam, {"axis=key"});
  if (!golden.model->has_classifier()) {
    expect_scores(golden, "gae" + rows, kGenericAttention);
    return;
  }
  expect_scores(golden, "gradcam.vit", kGradCam);
  expect_scores(golden, "gradcam.bert", kGradCam, {"preset=chefer-bert"});
  std::vector<double> gae = golden.values("single.gae.matrix");
  gae.resize(golden.input("single").tokens());
  expect_close(scores_of(golden, kGenericAttention, {"own=keep"}), gae, 1e-4 * largest(gae), "gae");
  gae[0] = 0;
  expect_close(scores_of(golden, kGenericAttention), gae, 1e-4 * largest(gae), "gae");
}

// The ViT code of Chefer et al. has the patches' columns only: cam[0, 1:], scaled by its own least
// and most.
TEST_P(GoldenModels, GradCamOfTheViTCodeScalesWithoutTheReadOutToken) {
  const GoldenModel golden(GetParam());
  if (!golden.model->has_classifier()) return;
  std::vector<double> expected = golden.values("single.gradcam.vit");
  const auto [least, most] = std::minmax_element(expected.begin() + 1, expected.end());
  const double low = *least, high = *most;
  for (size_t i = 1; i < expected.size(); ++i) expected[i] = (expected[i] - low) / (high - low);
  expect_close(scores_of(golden, kGradCam, {"preset=chefer-vit"}), expected, 1e-4, "chefer-vit");
}

// max(0, mean_h g_h A_h[c][c]), with g_h as for the other columns.
TEST_P(GoldenModels, GradCamKeepsTheReadOutTokensOwnScore) {
  const GoldenModel golden(GetParam());
  if (!golden.model->has_classifier()) return;
  const int64_t tokens = golden.input("single").tokens();
  int last = 0;
  while (golden.expected.contains("single.attention." + std::to_string(last + 1))) ++last;
  const std::vector<double> maps = golden.values("single.attention." + std::to_string(last));
  const std::vector<double> slopes =
      golden.values("single.attention_gradient." + std::to_string(last));
  const auto heads = static_cast<int64_t>(maps.size()) / (tokens * tokens);
  double own = 0;
  for (int64_t head = 0; head < heads; ++head) {
    double weight = 0;
    for (int64_t j = 1; j < tokens; ++j)
      weight += slopes[head * tokens * tokens + j] / static_cast<double>(tokens - 1);
    own += weight * maps[head * tokens * tokens] / static_cast<double>(heads);
  }
  std::vector<double> expected = golden.values("single.gradcam.vit");
  expected[0] = std::max(0.0, own);
  expect_close(scores_of(golden, kGradCam, {"own=keep"}), expected, 1e-4 * largest(expected),
               "own=keep");
}

TEST_P(GoldenModels, GradientMethodsEqualTheirFormulas) {
  const GoldenModel golden(GetParam());
  expect_scores(golden, "saliency.l2", kSaliency);
  expect_scores(golden, "saliency.l1", kSaliency, {"norm=l1"});
  expect_scores(golden, "gradient_x_input", kGradientTimesInput);
  expect_scores(golden, "integrated_gradients.pad", kIntegratedGradients, {"steps=64"});
  expect_scores(golden, "integrated_gradients.mask", kIntegratedGradients,
                {"steps=64", "baseline=mask"});
}

// What the model says where some rows of its word vectors are replaced.
double value_of_word_vectors(const GoldenModel& golden, const GoldenInput& input, Tensor vectors) {
  const auto graph = golden.model->graph(
      {.batch = 1, .tokens = input.tokens(), .head = golden.head(), .dtype = DType::kFloat64});
  Feeds feeds = golden.model->feeds(*graph, {{input.batch.ids[0]}, {input.batch.types[0]}, {}});
  feeds[graph->entries[0].value] = std::move(vectors);
  return run(graph->graph, feeds, {.outputs = {graph->output}})[graph->output]
      .to_doubles()[input.targets[0]];
}

Tensor word_vectors(const GoldenModel& golden, const GoldenInput& input) {
  const auto graph = golden.model->graph(
      {.batch = 1, .tokens = input.tokens(), .head = golden.head(), .dtype = DType::kFloat64});
  const Feeds feeds =
      golden.model->feeds(*graph, {{input.batch.ids[0]}, {input.batch.types[0]}, {}});
  return run(graph->graph, feeds, {.outputs = {graph->entries[0].value}})[graph->entries[0].value]
      .copy();
}

TEST_P(GoldenModels, NoBaselineOfIntegratedGradientsTouchesSpecialTokens) {
  const GoldenModel golden(GetParam());
  const std::vector<bool>& special = golden.input("single").special[0];
  ASSERT_TRUE(std::find(special.begin(), special.end(), true) != special.end());
  for (const std::string baseline : {"zero", "pad", "mask"}) {
    for (const std::string place : {"input", "embedding-block", "first-layer"}) {
      const std::vector<double> scores = scores_of(
          golden, kIntegratedGradients, {"steps=4", "baseline=" + baseline, "at=" + place});
      for (size_t i = 0; i < scores.size(); ++i) {
        if (special[i]) {
          EXPECT_EQ(scores[i], 0) << baseline << ' ' << place << ' ' << i;
        }
      }
    }
  }
}

TEST_P(GoldenModels, LeaveOneOutByZeroIsTheModelOnZeroedWordVectors) {
  const GoldenModel golden(GetParam());
  const GoldenInput& input = golden.input("single");
  const Tensor whole = word_vectors(golden, input);
  const double value = value_of_word_vectors(golden, input, whole);
  std::vector<double> expected(input.tokens(), 0.0);
  for (int64_t t = 0; t < input.tokens(); ++t) {
    if (input.special[0][t]) continue;
    Tensor without = whole.copy();
    without.select(0, 0).select(0, t).fill(0);
    expected[t] = value - value_of_word_vectors(golden, input, without);
  }
  expect_close(scores_of(golden, kLeaveOneOut, {"how=zero"}), expected,
               1e-4 * largest(expected) + 1e-6, "zero");
}

TEST_P(GoldenModels, LeaveOneOutEqualsRunningTheModelWithoutEachToken) {
  const GoldenModel golden(GetParam());
  for (const std::string how : {"mask", "delete", "drop"}) {
    const std::vector<double> expected =
        without_special(golden, golden.values("single.leave_one_out." + how));
    expect_close(scores_of(golden, kLeaveOneOut, {"how=" + how}), expected, 1e-4, how);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenModels, testing::ValuesIn(golden_models()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace whyformer
