#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/heads_test_helpers.h"

namespace whyformer {
namespace {

// PyTorch's maps of the case's input `pair`, layer 0: what the measures look at.
struct GoldenMaps {
  explicit GoldenMaps(const GoldenModel& golden)
      : maps(golden.values("pair.attention.0")), special(golden.input("pair").special[0]) {}

  double at(size_t head, size_t query, size_t key) const {
    return maps[(head * special.size() + query) * special.size() + key];
  }

  std::vector<double> maps;
  std::vector<bool> special;
};

TEST(Confidence, LeavesSpecialTokensOutAsQueriesAndAsKeys) {
  const GoldenModel golden("bert");
  const GoldenMaps maps(golden);
  double sum = 0, count = 0;
  for (size_t i = 0; i < maps.special.size(); ++i) {
    if (maps.special[i]) continue;
    double most = 0;
    for (size_t j = 0; j < maps.special.size(); ++j) {
      if (!maps.special[j]) most = std::max(most, maps.at(1, i, j));
    }
    sum += most;
    ++count;
  }
  EXPECT_NEAR(scores_of(golden, "confidence", corpus_of(golden, {"pair"}))[0][1], sum / count,
              1e-11);
}

// Without a query every key gets the same weight.
GoldenModel uniform_model() {
  return GoldenModel("bert", [](auto& weights) {
    for (auto& [name, values] : weights) {
      if (name.find("query") != std::string::npos) std::fill(values.begin(), values.end(), 0.0f);
    }
  });
}

TEST(Confidence, OfUniformAttentionIsOneOverTheNumberOfTokens) {
  const GoldenModel golden = uniform_model();
  const double tokens = static_cast<double>(golden.input("pair").tokens());
  for (const bool all_tokens : {false, true}) {
    const HeadGrid scores =
        scores_of(golden, "confidence", corpus_of(golden, {"pair"}), {.all_tokens = all_tokens});
    for (const auto& layer : scores) {
      for (const double score : layer) EXPECT_NEAR(score, 1 / tokens, 1e-12);
    }
  }
}

TEST(Entropy, OfUniformAttentionIsTheLogarithmOfTheNumberOfTokens) {
  const GoldenModel golden = uniform_model();
  const auto a = static_cast<double>(golden.input("single").tokens());
  const auto b = static_cast<double>(golden.input("pair").tokens());
  const HeadGrid scores = scores_of(golden, "entropy", corpus_of(golden, {"single", "pair"}));
  // The mean is over queries, so a long text counts more.
  EXPECT_NEAR(scores[1][0], (a * std::log(a) + b * std::log(b)) / (a + b), 1e-12);
}

}  // namespace
}  // namespace whyformer
