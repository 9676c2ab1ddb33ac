// Transformers of table rows given arrays: a table of vectors for each column of ids, and a last
// layer whose only query is the class token.
#include <numeric>

#include "tests/support/array_test_helpers.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

// Numbers and ids of one row, for tests/golden/onnx/models/ft-transformer*.
class Row {
 public:
  Row() = default;
  Row(std::vector<float> numbers, std::vector<int64_t> ids)
      : numbers_(std::move(numbers)), ids_(std::move(ids)) {}
  ArrayViews views() const {
    return {{"numbers", {"F32", {1, 4}, memory(numbers_.data()), 16}},
            {"categories", {"I64", {1, 3}, memory(ids_.data()), 24}}};
  }

 private:
  static std::shared_ptr<const void> memory(const void* data) {
    return {std::shared_ptr<void>(), data};
  }
  std::vector<float> numbers_{0.7f, -1.2f, 0.4f, 1.9f};
  std::vector<int64_t> ids_{2, 0, 2};
};

constexpr int64_t kHidingId = 1;
constexpr int64_t kTokens = 8;  // a class token, four numbers, three ids

Explanation explained_row(const std::string& model, const std::string& method,
                          Options options = {}) {
  ExplainRequest request;
  request.target = OutputElement{.indices = {0, 1}};
  request.methods = {{method, std::move(options)}};
  request.hiding_id = kHidingId;
  request.precision = Precision::kDouble;
  const Row row;
  return explain(Model::load(golden(model), {.arrays = true}), row.views(), request)[0];
}

std::vector<double> scores_of(const Explanation& found) { return found.attributions[0].scores; }

class ArrayTables : public testing::TestWithParam<const char*> {};

TEST_P(ArrayTables, IntegratedGradientsReachTheRowsOfEveryColumnsTable) {
  const Model model = Model::load(golden(GetParam()), {.arrays = true});
  const Row row, hidden({0, 0, 0, 0}, {kHidingId, kHidingId, kHidingId});
  const double difference = model.run(row.views()).at("output").values[1] -
                            model.run(hidden.views()).at("output").values[1];
  const Explanation found =
      explained_row(GetParam(), "integrated-gradients", {{"steps", int64_t{300}}});
  const std::vector<double> scores = scores_of(found);
  EXPECT_NEAR(std::accumulate(scores.begin(), scores.end(), 0.0), difference,
              1e-2 * std::abs(difference));  // ReLUs have kinks
  for (int64_t column = 5; column < kTokens; ++column) EXPECT_NE(scores[column], 0) << column;
}

TEST_P(ArrayTables, GradientsAndRelevanceGiveScoresToIds) {
  for (const std::string method : {"saliency", "gradient-x-input", "attn-lrp", "cp-lrp"}) {
    const std::vector<double> scores = scores_of(explained_row(GetParam(), method));
    for (int64_t column = 1; column < kTokens; ++column)
      EXPECT_NE(scores[column], 0) << method << " " << column;
  }
}

// Maps and their gradients of the file whose last layer has one query, [head][query][key].
class CutLayer : public testing::Test {
 protected:
  static constexpr const char* kModel = "ft-transformer-flat.eager.legacy.14";

  std::vector<NumberRows> heads(const std::string& name, int64_t queries) const {
    const std::vector<float> flat = tensor(trace_, name);
    std::vector<NumberRows> result(4, zeros(queries, kTokens));
    for (size_t i = 0; i < flat.size(); ++i)
      result[i / (queries * kTokens)][i / kTokens % queries][i % kTokens] = flat[i];
    return result;
  }
  // Mean over heads of a·b, its positive part.
  NumberRows weighted(const std::string& site, int64_t queries) const {
    const std::vector<NumberRows> a = heads("attention." + site, queries),
                                  g = heads("attention_gradient." + site, queries);
    NumberRows mean = zeros(queries, kTokens);
    for (size_t h = 0; h < 4; ++h) {
      for (int64_t i = 0; i < queries; ++i) {
        for (int64_t j = 0; j < kTokens; ++j)
          mean[i][j] += std::max(0.0, a[h][i][j] * g[h][i][j]) / 4;
      }
    }
    return mean;
  }
  NumberRows mean(const std::string& site, int64_t queries) const {
    NumberRows sum = zeros(queries, kTokens);
    for (const NumberRows& head : heads("attention." + site, queries)) sum = plus(sum, head);
    for (auto& row : sum) {
      for (double& x : row) x /= 4;
    }
    return sum;
  }
  void expect(const std::string& method, std::vector<double> expected, Options options = {}) const {
    const Explanation found = explained_row(kModel, method, std::move(options));
    ASSERT_EQ(found.streams.size(), 1u);
    const std::vector<double> scores = scores_of(found);
    for (int64_t i = 0; i < kTokens; ++i)
      EXPECT_NEAR(scores[i], expected[i], 1e-5) << method << " " << i;
  }

  Row row_;
  TracedArrays trace_ =
      traced(Model::load(golden(kModel), {.arrays = true}), row_.views(), {"", {0, 1}});
};

TEST_F(CutLayer, CountsInGenericAttention) {
  const NumberRows first = plus(identity(kTokens), weighted("0", kTokens));
  const NumberRows last = times(weighted("1", 1), first);
  std::vector<double> expected = plus({first[0]}, last)[0];
  expected[0] = 0;
  expect("gae", expected);
}

TEST_F(CutLayer, IsAFactorOfRollout) {
  const auto factor = [](NumberRows map) {
    for (size_t i = 0; i < map.size(); ++i) {
      map[i][i] += 1;
      for (double& x : map[i]) x /= 2;
    }
    return map;
  };
  expect("rollout", times(factor(mean("1", 1)), factor(mean("0", kTokens)))[0]);
}

TEST_F(CutLayer, IsTheMapOfMethodsThatReadTheLastOne) {
  expect("raw-attention", mean("1", 1)[0]);
  const std::vector<NumberRows> a = heads("attention.1", 1), g = heads("attention_gradient.1", 1);
  std::vector<double> expected(kTokens, 0);
  for (size_t h = 0; h < 4; ++h) {
    const double weight = std::accumulate(g[h][0].begin() + 1, g[h][0].end(), 0.0) / (kTokens - 1);
    for (int64_t j = 1; j < kTokens; ++j) expected[j] += weight * a[h][0][j] / 4;
  }
  for (double& x : expected) x = std::max(0.0, x);
  expect("grad-cam", expected);
}

// The same row as columns of a table.
TEST_F(CutLayer, CountsForRowsOfTables) {
  const RowInput row{{"a", "b", "c", "d", "k", "l", "m"}, {0.7f, -1.2f, 0.4f, 1.9f, 2, 0, 2}};
  ExplainRequest request;
  request.methods = {{"gae", {}}, {"rollout", {}}};
  request.target = int64_t{1};
  const Explanation table = explain(Model::load(golden(kModel)), row, request)[0];
  ASSERT_EQ(table.attributions.size(), 2u);
  for (size_t method = 0; method < 2; ++method) {
    const std::vector<double> arrays =
        scores_of(explained_row(kModel, table.attributions[method].method));
    ASSERT_EQ(table.attributions[method].scores.size(), arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i)
      EXPECT_NEAR(table.attributions[method].scores[i], arrays[i], 1e-5);
  }
}

// The same row as columns of a table, hidden ones taken from one other row.
RowInput row_of_table() {
  RowInput row{{"a", "b", "c", "d", "k", "l", "m"}, {0.7f, -1.2f, 0.4f, 1.9f, 2, 0, 2}};
  row.background = {.rows = 1, .columns = 7, .values = {0.1, 0.2, -0.3, 0.4, 1, 1, 1}};
  return row;
}

TEST_P(ArrayTables, RowsOfTablesGiveIdsTheScoresThatArraysGiveThem) {
  ExplainRequest request;
  request.methods = {{"saliency", {}}, {"gradient-x-input", {}}, {"attn-lrp", {}}, {"cp-lrp", {}}};
  request.target = int64_t{1};
  request.precision = Precision::kDouble;
  const Explanation table = explain(Model::load(golden(GetParam())), row_of_table(), request)[0];
  ASSERT_EQ(table.attributions.size(), request.methods.size());
  for (const Attribution& found : table.attributions) {
    const std::vector<double> arrays = scores_of(explained_row(GetParam(), found.method));
    ASSERT_EQ(found.scores.size(), arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i)
      EXPECT_NEAR(found.scores[i], arrays[i], 1e-9) << found.method << " " << i;
  }
}

TEST_P(ArrayTables, IntegratedGradientsOfRowsAddUpWithTheirIds) {
  ExplainRequest request;
  request.methods = {{"integrated-gradients", {{"steps", int64_t{300}}}}};
  request.target = int64_t{1};
  request.precision = Precision::kDouble;
  const Model model = Model::load(golden(GetParam()));
  const Explanation table = explain(model, row_of_table(), request)[0];
  RowInput neutral = row_of_table();
  neutral.values = neutral.background.values;
  const double difference = table.target.value - explain(model, neutral, request)[0].target.value;
  const std::vector<double>& scores = table.attributions[0].scores;
  EXPECT_NEAR(std::accumulate(scores.begin(), scores.end(), 0.0), difference,
              1e-2 * std::abs(difference));
  for (int64_t column = 5; column < kTokens; ++column) EXPECT_NE(scores[column], 0) << column;
}

std::string letters_of(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& letter : name)
    letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, ArrayTables,
                         testing::Values("ft-transformer.sdpa.legacy.14",
                                         "ft-transformer-einsum.eager.new.18",
                                         "ft-transformer-flat.eager.legacy.14"),
                         letters_of);

// A learned class token is no part of the input: a baseline of zeros leaves it as it is.
TEST_P(ArrayTables, ABaselineOfZerosKeepsTheClassToken) {
  const std::vector<double> scores = scores_of(explained_row(GetParam(), "integrated-gradients",
                                                             {{"steps", int64_t{4}},
                                                              {"baseline", std::string("zero")},
                                                              {"at", std::string("first-layer")}}));
  EXPECT_EQ(scores[0], 0);
  for (int64_t column = 1; column < kTokens; ++column) EXPECT_NE(scores[column], 0) << column;
}

// Read-outs of arrays are recognised by the value that is read; a told one has none.
TEST_F(CutLayer, StartsFromTheMeanWhereSomebodySaysSo) {
  const Model model = Model::load(golden("ft-transformer.sdpa.legacy.14"), {.arrays = true});
  const ArrayViews views = row_.views();
  const OutputElement element{.indices = {0, 1}};
  const Explanation found = explain(
      model, views, {.methods = {{"raw-attention", {}}}, .target = element, .read_out = "mean"})[0];
  const AttentionMap& last = found.attention.back();
  std::vector<double> expected(last.keys, 0);
  const double rows = static_cast<double>(last.heads * last.queries);
  for (int64_t i = 0; i < last.heads * last.queries * last.keys; ++i) {
    expected[i % last.keys] += last.values[i] / rows;
  }
  const std::vector<double> scores = scores_of(found);
  ASSERT_EQ(scores.size(), expected.size());
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], expected[i], 1e-6) << i;
}

}  // namespace
}  // namespace whyformer
