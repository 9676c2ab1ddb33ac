#include "relevance/policy_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "ops/operator_kinds.h"
#include "ops/ops.h"
#include "tests/support/check_op.h"
#include "tests/support/source_folder.h"
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

// Every name that an operator's kind() gives, read from the sources.
std::set<std::string> kinds_in_sources() {
  const std::regex functions(R"((kind\(\)[^{;]*\{[^}]*\}|kKind = [^;]*;))"),
      names(R"RX("([A-Z]\w*)")RX");
  std::set<std::string> kinds{"Constant"};  // the graph's own
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "src/ops")) {
    const std::string name = entry.path().filename().string();
    if (name.find("_test") != name.npos || name.starts_with("check_op")) continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator function(source.begin(), source.end(), functions), end;
         function != end; ++function) {
      const std::string body = function->str();
      for (std::sregex_iterator found(body.begin(), body.end(), names); found != end; ++found)
        kinds.insert((*found)[1]);
    }
  }
  return kinds;
}

TEST(OperatorKinds, ListEveryOperatorInOrder) {
  EXPECT_TRUE(std::is_sorted(kOperatorKinds.begin(), kOperatorKinds.end()));
  const std::set<std::string> own(kOperatorKinds.begin(), kOperatorKinds.end());
  EXPECT_THAT(own, ::testing::ContainerEq(kinds_in_sources()));
}

}  // namespace
}  // namespace whyformer
