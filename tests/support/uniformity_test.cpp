#include "tests/support/uniformity.h"

#include <gtest/gtest.h>

#include "tests/support/golden_agreement.h"

namespace whyformer {
namespace {

TEST(Uniformity, EqualsSciPy) {
  for (const nlohmann::json& sample : golden_agreement()["uniformity"]) {
    const UniformityTest test = uniformity(sample["sample"].get<std::vector<double>>());
    EXPECT_NEAR(test.statistic, sample["value"].get<double>(), 1e-12) << sample["name"];
    EXPECT_NEAR(test.p_value, sample["p_value"].get<double>(), 1e-10) << sample["name"];
  }
}

}  // namespace
}  // namespace whyformer
