// A model whose answer is linear in the value of one token: every method that sees the class finds
// that token, and an attention method is called random where maps are uniform.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/random.h"
#include "tests/support/saved_models.h"
#include "whyformer/evaluate.h"
#include "whyformer/methods.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

using onnx::add_floats;
using onnx::add_integers;
using onnx::add_node;
using onnx::set_integer;
using onnx::set_integers;
using onnx::TinyModel;

// With 100 tokens half of the ties of a random ranking with the right token first is 1/200.
constexpr int64_t kPlantedTokens = 100, kPlanted = 37;

enum class PlantedAttention { kUniform, kToItself };

// Values are 0 but for those of the planted token. Attention is uniform, or the planted token
// attends to itself and the others to all alike.
TinyModel one_token_model(PlantedAttention attention) {
  TinyModel model;
  auto& graph = model.graph();
  model.input("input_ids", {1, kPlantedTokens}, onnx::pb::TensorProto::INT64);
  const CounterRandom random(3, "table", 0);
  std::vector<float> table(2 * (kPlantedTokens + 1), 0.0f), shown(kPlantedTokens, 0.0f);
  for (int64_t id = 1; id <= kPlantedTokens; ++id) {
    table[2 * id] = static_cast<float>(0.5 + random.uniform(id));
    table[2 * id + 1] = static_cast<float>(random.uniform(kPlantedTokens + id) - 0.5);
  }
  shown[kPlanted] = kPlantedTokens;
  std::vector<float> asks(kPlantedTokens, 0.0f);
  if (attention == PlantedAttention::kToItself) asks[kPlanted] = 1;
  add_floats(graph, "table", {kPlantedTokens + 1, 2}, table);
  add_floats(graph, "shown", {1, 1, kPlantedTokens, 1}, shown);
  add_floats(graph, "asks", {1, 1, kPlantedTokens, 1}, asks);
  add_floats(graph, "weight", {2, 2}, {1, 0, 0, 1});
  add_integers(graph, "head_axis", {1}, {1});
  add_node(graph, "Gather", {"table", "input_ids"}, {"words"});
  add_node(graph, "Unsqueeze", {"words", "head_axis"}, {"heads"});
  add_node(graph, "Mul", {"heads", "asks"}, {"queries"});
  set_integers(add_node(graph, "Transpose", {"queries"}, {"keys"}), "perm", {0, 1, 3, 2});
  add_node(graph, "MatMul", {"queries", "keys"}, {"scores"});
  set_integer(add_node(graph, "Softmax", {"scores"}, {"map"}), "axis", -1);
  add_node(graph, "Mul", {"heads", "shown"}, {"values"});
  add_node(graph, "MatMul", {"map", "values"}, {"context"});
  add_node(graph, "Squeeze", {"context", "head_axis"}, {"merged"});
  auto& mean = add_node(graph, "ReduceMean", {"merged"}, {"pooled"});
  set_integers(mean, "axes", {1});
  set_integer(mean, "keepdims", 0);
  add_node(graph, "MatMul", {"pooled", "weight"}, {"logits"});
  model.output("logits");
  return model;
}

Explanation explained_one_token(PlantedAttention attention,
                                const std::vector<MethodRequest>& methods) {
  static std::vector<int64_t> ids = [] {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < kPlantedTokens; ++i) all.push_back(1 + (7 * i) % kPlantedTokens);
    return all;
  }();
  const ArrayViews input{{"input_ids",
                          {"I64",
                           {1, kPlantedTokens},
                           {ids.data(), [](const void*) {}},
                           ids.size() * sizeof(int64_t)}}};
  const SavedFolder folder(one_token_model(attention));
  const ExplainRequest request{.methods = methods,
                               .target = OutputElement{.indices = {0, 0}},
                               .hiding_id = 0,
                               .precision = Precision::kDouble,
                               .trust = TrustRequest{.orders = 399, .noisy_inputs = 0}};
  return explain(Model::load(folder.file(), {.arrays = true}), input, request)[0];
}

bool finds_planted_token(const Attribution& attribution) {
  std::vector<bool> region(attribution.scores.size(), false);
  region[kPlanted] = true;
  return localisation("pointing-game", attribution.scores, region) == 1;
}

// 2^100 coalitions, or pairs of players: see Trust.MethodsThatFindAPlantedSumAreBetterThanRandom.
const std::set<std::string> kTooManyTokens{"exact-shap", "shapley-taylor"};
// The class weighs whole maps (grad-cam), or scores belong to queries (grad-sam): where all queries
// attend alike to all tokens, these methods cannot tell tokens apart.
const std::set<std::string> kReadTheMaps{"grad-cam", "grad-sam"};

// Of each method that depends on the class and takes such a model and input.
template <class Check>
void for_each_class_method(PlantedAttention attention, const Check& check) {
  int64_t found = 0;
  for (const MethodInfo& method : methods()) {
    if (!method.class_specific || kTooManyTokens.contains(method.name)) continue;
    SCOPED_TRACE(method.name);
    // A second method: one that is refused is then told instead of thrown.
    const Explanation explanation = explained_one_token(attention, {{"saliency"}, {method.name}});
    // It takes encoder blocks apart, and here is none.
    ASSERT_EQ(explanation.refused.empty(), method.name != "decompx");
    if (!explanation.refused.empty()) continue;
    ++found;
    check(explanation.attributions.back());
  }
  EXPECT_GT(found, 10);
}

void expect_found(const Attribution& attribution) {
  EXPECT_TRUE(finds_planted_token(attribution));
  EXPECT_GT(attribution.trust->comprehensiveness_percentile.value, 0.99);
  EXPECT_EQ(attribution.trust->verdict, TrustVerdict::kBetterThanRandom);
}

TEST(PlantedToken, EveryMethodThatSeesTheClassFindsWhatAttendsToItself) {
  for_each_class_method(PlantedAttention::kToItself, expect_found);
}

TEST(PlantedToken, UnderUniformAttentionThoseThatReadTheMapsAreRandomAndTheOthersFindIt) {
  for_each_class_method(PlantedAttention::kUniform, [](const Attribution& attribution) {
    if (!kReadTheMaps.contains(attribution.method)) return expect_found(attribution);
    EXPECT_EQ(attribution.trust->verdict, TrustVerdict::kLikeRandom);
  });
}

TEST(PlantedToken, UniformAttentionIsCalledRandom) {
  const Explanation found =
      explained_one_token(PlantedAttention::kUniform, {{"raw-attention"}, {"rollout"}});
  ASSERT_EQ(found.attributions.size(), 2u);
  for (const Attribution& attribution : found.attributions) {
    EXPECT_EQ(attribution.trust->verdict, TrustVerdict::kLikeRandom) << attribution.method;
  }
}

}  // namespace
}  // namespace whyformer
