#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/method.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

std::string refusal(const Method& method, const Options& options) {
  try {
    complete_options(method, options);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no refusal";
}

TEST(Catalogue, RefusesAValueOfAnotherTypeByNamingItAndBothTypes) {
  EXPECT_EQ(refusal(kRollout, {{"start", 1.5}}),
            "rollout.start=1.5: expected a whole number, not a number");
  EXPECT_EQ(refusal(kRollout, {{"start", true}}),
            "rollout.start=true: expected a whole number, not true or false");
  EXPECT_EQ(refusal(kIntegratedGradients, {{"tolerance", "small"}}),
            "integrated-gradients.tolerance=small: expected a number, not a word");
  EXPECT_EQ(refusal(kIntegratedGradients, {{"baseline", int64_t{3}}}),
            "integrated-gradients.baseline=3: expected a word, not a whole number");
}

TEST(Catalogue, TakesAWholeNumberWhereANumberIsExpected) {
  EXPECT_EQ(complete_options(kIntegratedGradients, {{"tolerance", int64_t{1}}}).number("tolerance"),
            1.0);
}

}  // namespace
}  // namespace whyformer
