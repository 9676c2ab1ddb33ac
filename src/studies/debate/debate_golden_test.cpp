// Against scripts/golden/debate_golden.py: the authors' formulas in plain PyTorch.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "studies/debate/adversarial_search.h"
#include "studies/debate/guided_network.h"
#include "tests/support/debate_test_helpers.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<double>;

const Json& golden_debate() {
  static const Json json = Json::parse(std::ifstream(source_folder() / "tests/golden/debate.json"));
  return json;
}

void expect_near(const Numbers& found, const Numbers& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

// Some cases are of a model of which only one layer of attention is left.
ChangeWeights zeroed_by(const Json& expected) {
  const auto zeroed = expected["zeroed"].get<std::vector<std::string>>();
  return [zeroed](std::map<std::string, std::vector<float>>& weights) {
    for (const std::string& name : zeroed) std::ranges::fill(weights.at(name), 0.0F);
  };
}

DebateCase golden_case(const Json& expected) {
  return DebateCase(expected["input"].get<std::string>(), DType::kFloat64, zeroed_by(expected));
}

// The rows of all heads, as the joint search has them.
SearchProblem joint_problem(const DebateCase& test, const AttentionTail& tail) {
  SearchProblem problem{.tail = &tail,
                        .base = tail.observed(),
                        .answer = test.run->probabilities(),
                        .rows = {},
                        .distance = test.run->distance()};
  for (int64_t head = 0; head < tail.heads(); ++head) {
    const std::span<const double> row(tail.observed().data() + head * tail.keys(), tail.keys());
    FreeRow free{.first = head * tail.keys(), .keys = free_keys(*test.run, row)};
    for (const int64_t key : free.keys) free.sum += row[key];
    for (const int64_t key : free.keys) free.observed.push_back(row[key] / free.sum);
    problem.rows.push_back(std::move(free));
  }
  return problem;
}

TEST(DebateGolden, PermutedRowsChangeTheAnswerAsPyTorchSays) {
  for (const Json& expected : golden_debate()["cases"]) {
    const DebateCase test = golden_case(expected);
    expect_near(test.run->probabilities(), expected["probabilities"], 1e-6);
    expect_near(test.run->attention_row(1), expected["attention"], 1e-6);
    const AttentionTail tail(*test.explained, 1);
    const SearchProblem problem = joint_problem(test, tail);
    for (size_t draw = 0; draw < expected["permutation"]["orders"].size(); ++draw) {
      Numbers map = tail.observed();
      for (const FreeRow& row : problem.rows) {
        for (size_t i = 0; i < row.keys.size(); ++i) {
          const auto from = expected["permutation"]["orders"][draw][i].get<size_t>();
          map[row.first + row.keys[i]] = row.sum * row.observed[from];
        }
      }
      EXPECT_NEAR(test.run->change(tail.outputs(map)[0]),
                  expected["permutation"]["tvd"][draw].get<double>(), 1e-6);
    }
  }
}

TEST(DebateGolden, GradientImportanceAndItsTauAreThoseOfPyTorchAndSciPy) {
  for (const Json& expected : golden_debate()["cases"]) {
    DebateCase test = golden_case(expected);
    DebateInput input;
    kCorrelationPart.measure(*test.run, input);
    for (const DebateCorrelation& one : input.correlations) {
      if (one.attention != "last-row" || one.importance != "gradient" || one.with_special) continue;
      EXPECT_NEAR(*one.tau, expected["tau"].get<double>(), 1e-12);
      EXPECT_NEAR(*one.p_value, expected["p_value"].get<double>(), 1e-12);
    }
    kUniformPart.measure(*test.run, input);
    EXPECT_NEAR(input.uniform[0].tvd, expected["uniform_tvd"].get<double>(), 1e-6);
  }
}

TEST(DebateGolden, TheAdversarialSearchFollowsTheAuthorsLossStepByStep) {
  for (const Json& expected : golden_debate()["cases"]) {
    const DebateCase test = golden_case(expected);
    const AttentionTail tail(*test.explained, 1);
    const std::vector<SearchProblem> problems{joint_problem(test, tail)};
    const Json& search = expected["search"];
    std::vector<SearchCandidate> starts;
    for (const Json& one : search["start"]) starts.push_back({one});
    const double epsilon = golden_debate()["epsilon"].get<double>();
    const SearchLoss loss = search_loss(problems[0], starts, epsilon);
    EXPECT_NEAR(loss.value, search["loss"].get<double>(), 1e-6);
    for (size_t k = 0; k < starts.size(); ++k) {
      for (size_t row = 0; row < starts[k].logits.size(); ++row)
        expect_near(loss.gradient[k][row], search["gradient"][k][row], 1e-6);
    }
    std::vector<SearchResult> results(1);
    results[0].best.resize(1);
    search_from(problems, {starts},
                {.steps = golden_debate()["steps"].get<int64_t>(), .epsilons = {1.0}}, results);
    double furthest = 0;
    for (const Json& last : search["last"])
      furthest = std::max(furthest, last["jsd"].get<double>());
    EXPECT_NEAR(results[0].last_jsd, furthest, 1e-6);
    EXPECT_GE(results[0].best[0].jsd, results[0].last_jsd);
  }
}

// Gradients are summed in single precision.
constexpr double kSingle = 2e-6;

void check_network(const Json& given, const Json& expected, bool learned) {
  const GuidedOptions options{
      .depth = 4, .classes = 2, .width = 6, .batch = 3, .learns_weights = learned};
  GuidedNetwork network(options, 0);
  const Numbers start = given["start"];
  std::copy_n(start.begin(), network.parameters().size(), network.parameters().begin());
  std::vector<GuidedExample> examples;
  std::vector<Numbers> guides = given["guides"];
  for (size_t i = 0; i < guides.size(); ++i) {
    GuidedExample example{.vectors = {}, .label = given["labels"][i]};
    for (const Json& token : given["vectors"][i]) {
      for (const Json& number : token) example.vectors.push_back(number.get<float>());
    }
    examples.push_back(std::move(example));
  }
  std::vector<const GuidedExample*> batch;
  std::vector<const Numbers*> weights;
  for (size_t i = 0; i < guides.size(); ++i) {
    batch.push_back(&examples[i]);
    weights.push_back(&guides[i]);
  }
  AmsGrad optimiser(network.parameters().size(), 1e-3, 1e-5);
  for (int step = 0; step < 10; ++step) {
    const GuidedNetwork::Loss loss = network.loss(batch, weights);
    if (step == 0) {
      EXPECT_NEAR(loss.value, expected["loss"].get<double>(), kSingle);
      expect_near(loss.gradient, expected["gradient"], kSingle);
    }
    optimiser.step(network.parameters(), loss.gradient);
  }
  expect_near(network.parameters(), expected["after"], 1e-5);
}

TEST(DebateGolden, TheDiagnosticNetworkLearnsAsInPyTorch) {
  const Json& given = golden_debate()["diagnostic"];
  check_network(given, given["guided"], false);
  check_network(given, given["learned"], true);
}

}  // namespace
}  // namespace whyformer
