// Aggregations of attention maps: their formulas in plain loops over the maps, closed forms and
// what must hold for every model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/array_test_helpers.h"
#include "tests/support/small_table.h"
#include "whyformer/error.h"
#include "whyformer/methods.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

std::vector<std::string> preset_names() {
  return {"gorishniy",  "borisov-column", "borisov-diagonal",  "first-layer",
          "last-layer", "widedeep",       "all-layers-column", "pytorch-tabular"};
}

Explanation explained(const Model& model, const InputValue& input,
                      const std::vector<MethodRequest>& methods, int64_t target = 0) {
  ExplainRequest request;
  request.methods = methods;
  request.target = target;
  request.precision = Precision::kDouble;
  return explain(model, input, request)[0];
}

std::vector<double> scores(const SmallTable& table, const std::string& method, int64_t target = 0,
                           const Options& options = {}) {
  return explained(table.load(), table.row(), {{method, options}}, target).attributions[0].scores;
}

std::map<std::string, double> by_column(const SmallTable& table, const std::string& method) {
  const Explanation found = explained(table.load(), table.row(), {{method, {}}});
  std::map<std::string, double> result;
  for (size_t i = 0; i < found.units.size(); ++i) {
    result[found.units[i].special ? "class" : found.units[i].column] =
        found.attributions[0].scores[i];
  }
  return result;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The formulas as their authors write them, over the maps A[l][h][i][j] of an explanation; c is the
// class token.
class Formulas {
 public:
  Formulas(const Explanation& found, int64_t c)
      : maps_(found.attention), c_(c), tokens_(found.attention[0].keys) {}

  double at(int64_t l, int64_t h, int64_t i, int64_t j) const {
    return maps_[l].head(h)[i * tokens_ + j];
  }
  double mean(int64_t i, int64_t j) const {
    double result = 0;
    for (int64_t l = 0; l < layers(); ++l)
      for (int64_t h = 0; h < heads(); ++h) result += at(l, h, i, j);
    return result / static_cast<double>(layers() * heads());
  }
  double mean_of_layer(int64_t l, int64_t i, int64_t j) const {
    double result = 0;
    for (int64_t h = 0; h < heads(); ++h) result += at(l, h, i, j);
    return result / static_cast<double>(heads());
  }

  double score(const std::string& preset, int64_t j) const {
    if (preset == "gorishniy" || preset == "widedeep") return mean(c_, j);
    if (preset == "first-layer") return mean_of_layer(0, c_, j);
    if (preset == "last-layer") return mean_of_layer(layers() - 1, c_, j);
    if (preset == "pytorch-tabular") return mean(j, c_);
    if (j == c_) return 0;
    double result = 0;
    for (int64_t i = 0; i < tokens_; ++i) {
      if (i == c_ || (preset == "borisov-diagonal" && i != j)) continue;
      if (preset == "all-layers-column") {
        result += mean(i, j);
        continue;
      }
      for (int64_t h = 0; h < heads(); ++h) result += at(0, h, i, j);
    }
    return result;
  }

  int64_t layers() const { return static_cast<int64_t>(maps_.size()); }
  int64_t heads() const { return maps_[0].heads; }
  int64_t tokens() const { return tokens_; }

 private:
  const std::vector<AttentionMap>& maps_;
  int64_t c_, tokens_;
};

void expect_formulas(const Model& model, const InputValue& input, int64_t class_token) {
  std::vector<MethodRequest> methods;
  for (const std::string& preset : preset_names()) methods.push_back({"raw-attention:" + preset});
  const Explanation found = explain(model, input, {.methods = methods})[0];
  ASSERT_EQ(found.attributions.size(), methods.size());
  const Formulas formulas(found, class_token);
  for (size_t k = 0; k < methods.size(); ++k) {
    SCOPED_TRACE(methods[k].name);
    EXPECT_EQ(found.attributions[k].method, methods[k].name);
    const std::vector<double>& scores = found.attributions[k].scores;
    ASSERT_EQ(static_cast<int64_t>(scores.size()), formulas.tokens());
    for (int64_t j = 0; j < formulas.tokens(); ++j)
      EXPECT_NEAR(scores[j], formulas.score(preset_names()[k], j), 1e-12) << j;
  }
}

TEST(AttentionPresets, OfTablesAreTheirFormulas) {
  const RowInput row{{"a", "b", "c", "d", "k", "l", "m"}, {0.7f, -1.2f, 0.4f, 1.9f, 2, 0, 2}};
  for (const char* file : {"ft-transformer.sdpa.legacy.14", "ft-transformer-einsum.eager.new.18",
                           "ft-transformer-flat.eager.legacy.14"}) {
    SCOPED_TRACE(file);
    expect_formulas(Model::load(golden(file)), row, 0);
  }
}

TEST(AttentionPresets, OfTextsAreTheirFormulas) {
  expect_formulas(Model::built_in(), TextInput{"I cannot wait for next time", {}}, 0);
}

TEST(AttentionPresets, OfPicturesAreTheirFormulas) {
  const std::filesystem::path folder = source_folder() / "tests/data/pictures/objects";
  const auto picture = std::ranges::find_if(
      std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator{},
      [](const auto& file) { return file.path().extension() == ".png"; });
  expect_formulas(Model::built_in_for_pictures(), PictureFile{picture->path()}, 0);
}

TEST(AttentionPresets, FindTheClassTokenBehindTheColumns) {
  const SmallTable table{.class_is_last = true};
  const Model model = table.load();
  expect_formulas(model, table.row(), 3);
}

TEST(AttentionPresets, OfOneLayerAreTheSameForTheFirstTheLastAndAll) {
  const SmallTable table{.layers = 1};
  const std::vector<double> first = scores(table, "raw-attention:first-layer");
  EXPECT_EQ(scores(table, "raw-attention:last-layer"), first);
  EXPECT_EQ(scores(table, "raw-attention:gorishniy"), first);
}

TEST(AttentionPresets, DoNotDependOnWhereTheClassTokenStands) {
  std::vector<std::string> methods{"rollout", "gae"};
  for (const std::string& preset : preset_names()) methods.push_back("raw-attention:" + preset);
  for (const std::string& method : methods) {
    const auto first = by_column({}, method), last = by_column({.class_is_last = true}, method);
    ASSERT_EQ(first.size(), 4u);
    for (const auto& [column, score] : first)
      EXPECT_NEAR(last.at(column), score, 1e-12) << method << " " << column;
  }
}

TEST(AttentionPresets, MoveWithTheColumns) {
  std::vector<std::string> methods{"rollout", "gae"};
  for (const std::string& preset : preset_names()) methods.push_back("raw-attention:" + preset);
  for (const std::string& method : methods) {
    const auto before = by_column({}, method), after = by_column({.columns = {2, 0, 1}}, method);
    for (const auto& [column, score] : before)
      EXPECT_NEAR(after.at(column), score, 1e-12) << method << " " << column;
  }
}

TEST(AttentionPresets, OfUniformAttentionHaveClosedForms) {
  for (const int64_t layers : {1, 3}) {
    const SmallTable table{.layers = layers, .uniform = true};
    const double n = 4;
    for (const double score : scores(table, "raw-attention:gorishniy"))
      EXPECT_NEAR(score, 1 / n, 1e-12);
    for (const double score :
         scores(table, "raw-attention", 0, {{"read", std::string("column-mean")}}))
      EXPECT_NEAR(score, 1 / n, 1e-12);
    const std::vector<double> rollout = scores(table, "rollout");
    const double share = (1 - std::pow(2.0, -static_cast<double>(layers))) / n;
    for (size_t j = 1; j < rollout.size(); ++j) EXPECT_NEAR(rollout[j], share, 1e-12);
    EXPECT_NEAR(rollout[0], share + std::pow(2.0, -static_cast<double>(layers)), 1e-12);
  }
}

TEST(AttentionPresets, AreSharesOrBounded) {
  const SmallTable table;
  const double n = 4, heads = 2;
  const std::vector<double> shares = scores(table, "raw-attention:gorishniy");
  for (const double share : shares) EXPECT_GE(share, 0);
  EXPECT_NEAR(sum(shares), 1, 1e-12);
  const Options with_class{{"without-class", false}};
  EXPECT_NEAR(sum(scores(table, "raw-attention:borisov-column", 0, with_class)), n * heads, 1e-12);
  const double without = sum(scores(table, "raw-attention:borisov-column"));
  EXPECT_GT(without, 0);
  EXPECT_LT(without, (n - 1) * heads);
  for (const double score : scores(table, "raw-attention:borisov-diagonal"))
    EXPECT_LE(score, heads);
}

TEST(AttentionPresets, DoNotSeeTheOutputHeadAsGaeDoes) {
  const SmallTable table, other{.head = -3};
  EXPECT_EQ(scores(table, "raw-attention:gorishniy"), scores(other, "raw-attention:gorishniy"));
  EXPECT_EQ(scores(table, "rollout"), scores(other, "rollout"));
  EXPECT_NE(scores(table, "gae"), scores(other, "gae"));
}

TEST(Gae, KeepsDisjointEntriesForAnOutputAndItsNegative) {
  const SmallTable table;
  const Model model = table.load();
  const Trace one = trace(model, table.row(), {.target = int64_t{0}}),
              other = trace(model, table.row(), {.target = int64_t{1}});
  int64_t kept = 0;
  for (size_t layer = 0; layer < one.attention.size(); ++layer) {
    const AttentionMap& map = one.attention[layer];
    for (int64_t i = 0; i < map.heads * map.queries * map.keys; ++i) {
      const bool here = map.values[i] * one.attention_gradient[layer].values[i] > 0,
                 there = map.values[i] * other.attention_gradient[layer].values[i] > 0;
      EXPECT_FALSE(here && there);
      kept += here || there ? 1 : 0;
    }
  }
  EXPECT_GT(kept, 16);
}

// The negative control: what a report must not take attention for.
TEST(AttentionPresets, GiveAttentionToAColumnThatChangesNothing) {
  const SmallTable table{.columns = {0, 1, kColumnWithoutValues}, .uniform = true};
  EXPECT_EQ(by_column(table, "gradient-x-input").at("d"), 0);
  EXPECT_NEAR(by_column(table, "exact-shap").at("d"), 0, 1e-15);
  EXPECT_NE(by_column(table, "exact-shap").at("a"), 0);
  for (const std::string& preset : preset_names())
    EXPECT_GT(by_column(table, "raw-attention:" + preset).at("d"), 0) << preset;
}

std::string refusal_of(const SmallTable& table, const std::string& method,
                       const Options& options = {}) {
  try {
    scores(table, method, 0, options);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(AttentionPresets, ThatReadTheClassTokenAreRefusedWhereThereIsNone) {
  const SmallTable flat{.read = SmallTable::ReadBy::kAllTokens};
  for (const std::string preset : {"gorishniy", "first-layer", "last-layer", "pytorch-tabular"}) {
    EXPECT_THAT(refusal_of(flat, "raw-attention:" + preset),
                HasSubstr("there is no read-out token"))
        << preset;
  }
}

TEST(AttentionPresets, ThatReadColumnsNeedNoClassToken) {
  const SmallTable flat{.read = SmallTable::ReadBy::kAllTokens};
  const Explanation found = explained(
      flat.load(), flat.row(), {{"raw-attention:borisov-column"}, {"raw-attention:widedeep"}});
  const Formulas formulas(found, -1);
  for (int64_t j = 0; j < 3; ++j) {
    double mean = 0;
    for (int64_t i = 0; i < 3; ++i) mean += formulas.mean(i, j) / 3;
    EXPECT_NEAR(found.attributions[1].scores[j], mean, 1e-6);
    EXPECT_NEAR(found.attributions[0].scores[j], formulas.score("borisov-column", j), 1e-6);
  }
}

TEST(RawAttention, HasNoRowLeftWithoutTheClassToken) {
  for (const char* read : {"row", "own-column"}) {
    EXPECT_THAT(
        refusal_of({}, "raw-attention", {{"read", std::string(read)}, {"without-class", true}}),
        HasSubstr("which without-class=true leaves out"));
  }
}

TEST(RawAttention, SaysWhichRowsAModelDoesNotCompute) {
  const RowInput row{{"a", "b", "c", "d", "k", "l", "m"}, {0.7f, -1.2f, 0.4f, 1.9f, 2, 0, 2}};
  const Model model = Model::load(golden("ft-transformer-flat.eager.legacy.14"));
  const Explanation found =
      explain(model, row,
              {.methods = {{"raw-attention:gorishniy"}, {"raw-attention:all-layers-column"}}})[0];
  EXPECT_TRUE(found.attributions[0].notes.empty());
  EXPECT_THAT(found.attributions[1].notes,
              testing::ElementsAre(HasSubstr("In layer 1 this model computes the attention of 1 of "
                                             "8 tokens only")));
}

TEST(MethodNames, WithAPresetAreTheMethodWithThePresetsOptions) {
  const SmallTable table;
  EXPECT_EQ(scores(table, "raw-attention:borisov-column"),
            scores(table, "raw-attention", 0,
                   {{"layer", int64_t{0}},
                    {"heads", std::string("sum")},
                    {"read", std::string("column-sum")},
                    {"without-class", true}}));
  EXPECT_EQ(method_named("raw-attention:gorishniy").name, "raw-attention");
  EXPECT_THAT(refusal_of(table, "raw-attention:borisow"),
              HasSubstr("raw-attention has no preset 'borisow'; it has"));
}

}  // namespace
}  // namespace whyformer
