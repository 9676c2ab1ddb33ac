#include "relevance/policy_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/ops.h"
#include "tests/support/check_op.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

Graph linear_and_softmax() {
  GraphBuilder builder;
  Value x = builder.input("x", {2, 3}, DType::kFloat64);
  const auto weights =
      std::make_shared<LinearWeights>(random_tensor({3, 3}, DType::kFloat64, 1), Tensor());
  x = linear(builder, x, weights, "layer.0.dense");
  x = reshape(builder, x, {3, 2}, "layer.0.view");
  x = softmax(builder, x, {}, 1, "layer.0.softmax");
  return builder.finish();
}

std::vector<std::string> notes_on(const std::string& rules) {
  return check_policy(
      parse_policy(R"({"base": "attn-lrp", "rules": [)" + rules + "]}", "mine.json"),
      linear_and_softmax());
}

TEST(PolicyCheck, NamesTheNearestOperatorToOneThatDoesNotExist) {
  for (const char* wrong : {"Sofmax", "softmax", "SOFTMAX"}) {
    EXPECT_THAT(
        [&] { notes_on(std::string(R"({"operator": ")") + wrong + R"(", "rule": "stop"})"); },
        ThrowsMessage<InvalidInput>(
            AllOf(HasSubstr(std::string("mine.json, rule 1: there is no operator \"") + wrong),
                  HasSubstr("the nearest is \"Softmax\""))));
  }
}

TEST(PolicyCheck, NamesTheNearestNodeToOneThatTheModelDoesNotHave) {
  EXPECT_THAT(
      [] {
        notes_on(
            R"({"rule": "stop", "operator": "Softmax"}, {"node": "layer.0.dens", "rule": "stop"})");
      },
      ThrowsMessage<InvalidInput>(
          AllOf(HasSubstr("rule 2: this model has no node \"layer.0.dens\""),
                HasSubstr("the nearest is \"layer.0.dense\""))));
}

TEST(PolicyCheck, SaysWhichRulesChangeNothingAndWhy) {
  EXPECT_THAT(
      notes_on(R"({"operator": "Softmax", "rule": "stop"}, {"node": "*.dense", "rule": "gamma"})"),
      IsEmpty());
  EXPECT_THAT(notes_on(R"({"operator": "Conv", "rule": "stop"})"),
              ElementsAre(HasSubstr("it fits no node of this model")));
  EXPECT_THAT(notes_on(R"({"node": "*layer.1*", "rule": "stop"})"),
              ElementsAre(HasSubstr("it fits no node of this model")));
  EXPECT_THAT(notes_on(R"({"operator": "Reshape", "rule": "stop"})"),
              ElementsAre(HasSubstr("only moves values")));
  EXPECT_THAT(
      notes_on(R"({"operator": "*", "rule": "stop"}, {"operator": "Linear", "rule": "gamma"})"),
      ElementsAre(HasSubstr(
          "mine.json, rule 2 (operator \"Linear\", node \"*\") changes nothing: an earlier rule")));
}

TEST(PolicyCheck, LeavesPoliciesByNameAlone) {
  for (const std::string& name : policy_names())
    EXPECT_THAT(check_policy(policy_named(name), linear_and_softmax()), IsEmpty());
}

}  // namespace
}  // namespace whyformer
