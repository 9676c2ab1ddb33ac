// Four importances of the columns of a table side by side, beside each of them alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/source_folder.h"
#include "whyformer/compared_importances.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Model& table_model() {
  static const Model model =
      Model::load(source_folder() / "tests/golden/onnx/models/ft-transformer.sdpa.legacy.14.onnx");
  return model;
}

NamedTable four_rows() {
  return {{"a", "b", "c", "d", "k", "l", "m"},
          {4, 7, {0.5,  1.2, -0.3, 0.7,  1, 0, 2, 0.1, -1.2, 0.3, 0.2, 0, 1, 1,
                  -0.5, 0.2, 1.3,  -0.7, 2, 1, 0, 1.5, -0.4, 0.6, 0.1, 1, 1, 1}}};
}

const std::vector<double> kAnswers{0, 1, 1, 0};

CompareImportancesRequest short_request() {
  CompareImportancesRequest request;
  request.importance = {.repeats = 2, .draws = 40, .seed = 3};
  return request;
}

const ImportanceSide& side(const ComparedImportances& found, const std::string& method) {
  return *std::ranges::find(found.sides, method, &ImportanceSide::method);
}

// By name, since the compared ones are in an order of their own.
void expect_same(const ComparedImportances& found, const ImportanceSide& alone) {
  const ImportanceSide& own = side(found, alone.method);
  EXPECT_EQ(own.what, alone.what);
  for (size_t i = 0; i < alone.names.size(); ++i) {
    const auto place = std::ranges::find(own.names, alone.names[i]) - own.names.begin();
    EXPECT_EQ(own.columns[place].value, alone.columns[i].value) << alone.method;
    EXPECT_EQ(own.columns[place].low, alone.columns[i].low) << alone.method;
    EXPECT_EQ(own.columns[place].rank, alone.columns[i].rank) << alone.method;
  }
}

TEST(CompareImportances, HasWhatEachMethodFindsAlone) {
  const NamedTable rows = four_rows();
  const CompareImportancesRequest request = short_request();
  const ComparedImportances found = compare_importances(table_model(), rows, kAnswers, request);
  EXPECT_EQ(found.rows, 4);
  EXPECT_EQ(found.seed, 3);
  std::vector<Explanation> explained;
  for (int64_t row = 0; row < 4; ++row) {
    RowInput input = row_of(rows, row);
    input.background = rows.table;
    explained.push_back(explain(table_model(), input,
                                {.methods = {{"raw-attention:gorishniy"}, {"shap"}}, .seed = 3})
                            .front());
  }
  expect_same(found, importance_side(explained, "raw-attention:gorishniy", 3));
  expect_same(found, importance_side(explained, "shap", 3));
  for (const ImportanceMethod method : {ImportanceMethod::kPermutation, ImportanceMethod::kSage}) {
    ImportanceRequest alone = request.importance;
    alone.method = method;
    expect_same(found, importance_side(importance(table_model(), rows, kAnswers, alone)));
  }
}

TEST(CompareImportances, SageTakesItsLossWhereTheScoreIsNone) {
  CompareImportancesRequest request = short_request();
  request.importance.score = ImportanceScore::kAccuracy;
  const ComparedImportances found =
      compare_importances(table_model(), four_rows(), kAnswers, request);
  EXPECT_EQ(side(found, "permutation").what, "fall of accuracy");
  EXPECT_EQ(side(found, "sage").what, "saved cross-entropy");
}

TEST(CompareImportances, RowsAndMethodsThatAreLeftOutAreTold) {
  NamedTable rows = four_rows();
  rows.table.values[4] = 0.5;  // no category has such a number
  CompareImportancesRequest request = short_request();
  request.explain.methods = {{"shap"}};
  // The study of all rows cannot do without one of them.
  EXPECT_THROW(compare_importances(table_model(), rows, kAnswers, request), InvalidInput);
  request.explain.methods = {{"decompx"}, {"saliency"}};
  const ComparedImportances found =
      compare_importances(table_model(), four_rows(), kAnswers, request);
  std::vector<std::string> methods;
  for (const ImportanceSide& one : found.sides) methods.push_back(one.method);
  EXPECT_THAT(methods, ElementsAre("saliency", "permutation", "sage"));
  EXPECT_THAT(found.notes, testing::Contains(HasSubstr("decompx was left out: ")));
}

TEST(CompareImportances, StopsWhereTheCallerSaysSo) {
  CompareImportancesRequest request = short_request();
  // It is asked between rows, too, as often as time passes.
  request.progress = [](int64_t done, int64_t) { return done < 2; };
  const ComparedImportances found =
      compare_importances(table_model(), four_rows(), kAnswers, request);
  EXPECT_TRUE(found.stopped_early);
  EXPECT_EQ(found.rows, 2);
  EXPECT_EQ(found.sides.size(), 2u);
  EXPECT_THAT(found.notes, testing::Contains(HasSubstr("Stopped after 2 of 4 rows")));
  EXPECT_THAT(found.notes, testing::Contains(HasSubstr("sage was left out")));
}

// Sides that stand beside each other are whole ones.
TEST(CompareImportances, LeavesOutWhatIsStoppedOnItsWayAndWantsTwoSides) {
  CompareImportancesRequest request = short_request();
  bool permutes = false;
  request.progress = [&permutes](int64_t done, int64_t) {
    permutes = permutes || done == 4;
    return !permutes || done == 4;
  };
  const ComparedImportances found =
      compare_importances(table_model(), four_rows(), kAnswers, request);
  std::vector<std::string> methods;
  for (const ImportanceSide& one : found.sides) methods.push_back(one.method);
  EXPECT_THAT(methods, ElementsAre("raw-attention:gorishniy", "shap"));
  request.progress = [](int64_t, int64_t) { return false; };
  request.explain.methods = {{"saliency", {}}};
  EXPECT_THROW(compare_importances(table_model(), four_rows(), kAnswers, request), Interrupted);
}

TEST(CompareImportances, NeedsSeveralRowsAndColumnsThatStandAlone) {
  NamedTable one = four_rows();
  one.table.rows = 1;
  one.table.values.resize(7);
  EXPECT_THROW(compare_importances(table_model(), one, {0}, short_request()), InvalidInput);
  CompareImportancesRequest request = short_request();
  request.importance.groups = {{"a", "b"}};
  EXPECT_THROW(compare_importances(table_model(), four_rows(), kAnswers, request), InvalidInput);
}

}  // namespace
}  // namespace whyformer
