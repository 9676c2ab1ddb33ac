#include "studies/learned/probe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace whyformer {
namespace {

// Rows of noise; the label of each row can be added to its first columns.
struct PlantedRows {
  std::vector<float> floats;
  std::vector<int> labels;
  ProbeSplit split;
  int64_t width = 12;

  PlantedRows(int64_t rows, double strength) {
    const CounterRandom random(3, "planted rows", 0);
    for (int64_t row = 0; row < rows; ++row) {
      labels.push_back(static_cast<int>(random.uniform(1'000'000 + row) * 3));
      for (int64_t i = 0; i < width; ++i) {
        const double noise = random.normal(row * width + i);
        floats.push_back(static_cast<float>(noise + (i == labels[row] ? strength : 0)));
      }
      (row % 4 == 0 ? split.held_out : split.fitted).push_back(row);
    }
  }
  FloatRows rows() const { return {floats.data(), static_cast<int64_t>(labels.size()), width}; }
  double accuracy(ProbeKind kind) const {
    const auto probe = make_probe(rows(), split, {.probe = kind});
    std::vector<int> fitted;
    for (const int64_t row : split.fitted) fitted.push_back(labels[row]);
    const auto told = predictions(probe->fit(fitted, 3, nullptr), rows(), split.held_out);
    int64_t hits = 0;
    for (size_t i = 0; i < told.size(); ++i) hits += told[i] == labels[split.held_out[i]];
    return static_cast<double>(hits) / static_cast<double>(told.size());
  }
};

TEST(LinearProbe, FindsALabelThatRowsKnowAndNoneThatTheyDoNot) {
  const PlantedRows known(600, 6), unknown(600, 0);
  for (const ProbeKind kind : {ProbeKind::kRidge, ProbeKind::kLogistic}) {
    EXPECT_GT(known.accuracy(kind), 0.97);
    // 150 rows at a third: four deviations are 0.15.
    EXPECT_NEAR(unknown.accuracy(kind), 1.0 / 3, 0.15);
  }
}

TEST(LinearProbe, AccuraciesHaveTheirExactBinomialInterval) {
  // R: binom.test(17, 20)$conf.int, binom.test(0, 10), binom.test(10, 10).
  const ProbeAccuracy some = accuracy_of(17, 20);
  EXPECT_NEAR(some.low, 0.6210732, 1e-6);
  EXPECT_NEAR(some.high, 0.9679291, 1e-6);
  EXPECT_NEAR(accuracy_of(0, 10).high, 1 - std::pow(0.025, 0.1), 1e-9);
  EXPECT_EQ(accuracy_of(0, 10).low, 0);
  EXPECT_NEAR(accuracy_of(10, 10).low, std::pow(0.025, 0.1), 1e-9);
  EXPECT_EQ(accuracy_of(10, 10).high, 1);
}

}  // namespace
}  // namespace whyformer
