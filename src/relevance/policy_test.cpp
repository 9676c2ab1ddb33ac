#include "relevance/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/ops.h"
#include "tests/support/check_op.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

Graph two_layers() {
  GraphBuilder builder;
  Value x = builder.input("x", {2, 3}, DType::kFloat64);
  const auto weights =
      std::make_shared<LinearWeights>(random_tensor({3, 3}, DType::kFloat64, 1), Tensor());
  x = linear(builder, x, weights, "layer.0.dense");
  x = activation(builder, x, ActivationFunction::kGelu, "layer.0.act");
  x = linear(builder, x, weights, "layer.1.dense");
  return builder.finish();
}

void expect_refused(const std::string& json, const std::string& part) {
  try {
    parse_policy(json, "p.json");
    FAIL() << json;
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

TEST(Policy, OfEveryNameHasARuleForEveryNode) {
  const Graph graph = two_layers();
  for (const std::string& name : policy_names()) {
    for (const Node& node : graph.nodes()) EXPECT_NO_THROW(policy_named(name).rule_for(node));
  }
}

TEST(Policy, UnknownNameListsTheKnownOnes) { EXPECT_THROW(policy_named("chefers"), InvalidInput); }

TEST(Policy, FileOverridesItsBaseNodeByNode) {
  const Policy policy = parse_policy(
      R"({"name": "mine", "base": "attn-lrp", "rules": [
        {"operator": "Linear", "node": "layer.1.*", "rule": "gamma", "gamma": 0.5, "bias": true}]})",
      "p.json");
  const Graph graph = two_layers();
  EXPECT_EQ(policy.name, "mine");
  EXPECT_EQ(policy.seed, Policy::Seed::kOutput);
  EXPECT_EQ(policy.rule_for(graph.nodes()[0]).kind, RuleKind::kProportional);
  EXPECT_EQ(policy.rule_for(graph.nodes()[1]).kind, RuleKind::kIdentity);
  EXPECT_EQ(policy.rule_for(graph.nodes()[2]).kind, RuleKind::kGamma);
  EXPECT_EQ(policy.rule_for(graph.nodes()[2]).gamma, 0.5);
}

TEST(Policy, WithoutARuleForANodeNamesIt) {
  const Policy policy =
      parse_policy(R"({"rules": [{"operator": "Linear", "rule": "alpha-beta"}]})", "p.json");
  const Graph graph = two_layers();
  try {
    policy.rule_for(graph.nodes()[1]);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("Activation 'layer.0.act'"));
  }
}

TEST(Policy, FileThatIsWrongSaysWhere) {
  expect_refused("{", "not JSON");
  expect_refused("[]", "p.json: expected an object");
  expect_refused("{}", "\"rules\" must list");
  expect_refused(R"({"rules": [{"rule": "alfa"}]})", "p.json, rule 1: there is no rule \"alfa\"");
  expect_refused(R"({"rules": [{"rul": "stop"}]})", "unknown key \"rul\"");
  expect_refused(R"({"rules": [{"rule": "gamma", "gamma": -1}]})",
                 "\"gamma\" must be a number from 0");
  expect_refused(R"({"rules": [{"shares": [1]}]})", "\"shares\" must be two numbers");
  expect_refused(R"({"seed": "half", "rules": [{}]})", "\"seed\" must be");
  expect_refused(R"({"base": "none", "rules": [{}]})", "there is no policy 'none'");
}

}  // namespace
}  // namespace whyformer
