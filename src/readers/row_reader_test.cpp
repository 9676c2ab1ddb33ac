// What a row of a table must hold before anything reads it.
#include "readers/row_reader.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/source_folder.h"
#include "whyformer/answers.h"
#include "whyformer/error.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Model& rows_model() {
  static const Model model =
      Model::load(source_folder() / "tests/golden/onnx/models/ft-transformer.sdpa.legacy.14.onnx");
  return model;
}

// Four numbers and three ids, with two other rows behind them.
RowInput weighted_row() {
  return {
      .names = {"a", "b", "c", "d", "k", "l", "m"},
      .values = {0.7, -1.2, 0.4, 1.9, 1, 0, 1},
      .background = {.rows = 2, .columns = 7, .values = {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1}},
      .weights = {0.25, 0.75}};
}

void expect_refused(const RowInput& row, const std::string& why) {
  const ExplainRequest request{.methods = {{"leave-one-out", {}}}};
  const auto refused = ThrowsMessage<InvalidInput>(HasSubstr(why));
  EXPECT_THAT([&] { explain(rows_model(), row, request); }, refused);
  EXPECT_THAT([&] { default_methods(rows_model(), row); }, refused);
  EXPECT_THAT([&] { answers(rows_model(), {row}); }, refused);
}

TEST(RowOfATable, HasOneWeightForEachRowOfItsBackground) {
  RowInput row = weighted_row();
  row.weights = {1};
  expect_refused(row, "the background has 2 rows, but 1 weights");
  row.weights = {0.25, 0.5, 0.25};
  expect_refused(row, "the background has 2 rows, but 3 weights");
  row.background = {};
  expect_refused(row, "the background has 0 rows, but 3 weights");
}

TEST(RowOfATable, HasWeightsThatAreShares) {
  RowInput row = weighted_row();
  row.weights = {1.5, -0.5};
  expect_refused(row, "the weight of background row 1 is -0.5");
  row.weights = {NAN, 1};
  expect_refused(row, "the weight of background row 0 is nan");
  row.weights = {INFINITY, 0};
  expect_refused(row, "the weight of background row 0 is inf");
  row.weights = {1, 3};
  expect_refused(row, "the weights of the background sum to 4, not to 1");
}

TEST(RowOfATable, HasANameForEachNumberAndABackgroundOfItsSize) {
  RowInput row = weighted_row();
  row.names.pop_back();
  expect_refused(row, "a row of 7 numbers with 6 names");
  row = weighted_row();
  row.background.values.pop_back();
  expect_refused(row, "a background of 2 rows and 7 columns has 13 numbers");
}

TEST(RowOfATable, CountsTheRowsOfItsBackgroundByTheirWeights) {
  const ExplainRequest request{
      .methods = {{"leave-one-out", {}}}, .target = int64_t{0}, .precision = Precision::kDouble};
  const auto scores = [&](const RowInput& row) {
    return explain(rows_model(), row, request)[0].attributions[0].scores;
  };
  RowInput weighted = weighted_row(), twice = weighted_row();
  const auto second = twice.background.values.begin() + 7;
  const std::vector<double> copy(second, second + 7);
  for (int i = 0; i < 2; ++i) {
    twice.background.values.insert(twice.background.values.end(), copy.begin(), copy.end());
  }
  twice.background.rows = 4;
  twice.weights.clear();
  const std::vector<double> expected = scores(twice);
  EXPECT_THAT(scores(weighted), ::testing::Pointwise(::testing::DoubleNear(1e-9), expected));
}

// 2^players · rows against Kernel SHAP's 2,048 coalitions of a usual background: counts, not times.
TEST(DefaultMethodsOfRows, AreExactWhereThatIsAtMostTheWorkOfKernelShap) {
  RowInput row = weighted_row();
  row.weights.clear();
  using ::testing::ElementsAre;
  EXPECT_THAT(default_methods(rows_model(), row),
              ElementsAre("exact-shap", "gae", "raw-attention:gorishniy"));
  const auto with_background = [&](int64_t rows) {
    row.background = {.rows = rows, .columns = 7};
    row.background.values.assign(static_cast<size_t>(7 * rows), 0.0);
    return default_methods(rows_model(), row)[0];
  };
  EXPECT_EQ(with_background(2048), "exact-shap");  // 2^7 · 2,048 = 2^18
  EXPECT_EQ(with_background(2049), "kernel-shap");
}

TEST(DefaultMethodsOfRows, OfTheBuiltInModelAreKernelShapAndAttention) {
  const Model model = Model::built_in_for_tables();
  EXPECT_THAT(default_methods(model, row_of(rows_with(model), 0)),
              ::testing::ElementsAre("kernel-shap", "gae", "raw-attention:gorishniy"));
}

}  // namespace
}  // namespace whyformer
