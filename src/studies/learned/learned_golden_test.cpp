// Probes against scikit-learn (scripts/golden/learned_golden.py).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "studies/learned/probe.h"
#include "studies/learned/ridge.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

nlohmann::json learned_cases() {
  return nlohmann::json::parse(std::ifstream(source_folder() / "tests/golden/learned.json"));
}

void expect_all_near(const std::vector<double>& found, const nlohmann::json& expected,
                     double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

TEST(LearnedGolden, RidgeItsPenaltyAndLeaveOneOutErrorsAreThoseOfRidgeCV) {
  for (const auto& one : learned_cases()) {
    const int64_t rows = one["rows"];
    const std::vector<double> x = one["x"];
    std::vector<double> y(3 * rows, 0);
    for (int64_t row = 0; row < rows; ++row) y[one["labels"][row].get<int64_t>() * rows + row] = 1;
    const LinearProbeFit fit = Ridge(x, rows, one["penalties"]).fit(y);
    expect_all_near(fit.errors, one["errors"], 1e-10);
    EXPECT_EQ(fit.penalty, one["penalty"]);
    expect_all_near(fit.weights, one["weights"], 1e-10);
    expect_all_near(fit.intercepts, one["intercepts"], 1e-9);
  }
}

TEST(LearnedGolden, LogisticDirectionsAreThoseOfLogisticRegression) {
  for (const auto& one : learned_cases()) {
    const int64_t rows = one["rows"];
    const std::vector<float> x = one["x"];
    ProbeSplit split{.fitted = std::vector<int64_t>(rows)};
    std::iota(split.fitted.begin(), split.fitted.end(), 0);
    const auto probe =
        make_probe({x.data(), rows, one["width"]}, split, {.probe = ProbeKind::kLogistic});
    const ProbeDirections found = probe->fit(one["labels"], 3, nullptr);
    expect_all_near({found.weights.begin(), found.weights.end()}, one["logistic"]["weights"], 2e-6);
    expect_all_near({found.intercepts.begin(), found.intercepts.end()},
                    one["logistic"]["intercepts"], 1e-5);
  }
}

}  // namespace
}  // namespace whyformer
