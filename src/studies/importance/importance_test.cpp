#include "whyformer/importance.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/numpy_random.h"
#include "tests/support/source_folder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Model& table_model() {
  static const Model model =
      Model::load(source_folder() / "tests/golden/onnx/models/ft-transformer.sdpa.legacy.14.onnx");
  return model;
}

// Four numbers and three categories, as the golden model takes them.
NamedTable some_rows(int64_t count) {
  NamedTable rows{{"a", "b", "c", "d", "k", "l", "m"}, {.rows = count, .columns = 7}};
  NumpyRandom random(5);
  for (int64_t row = 0; row < count; ++row) {
    for (int i = 0; i < 4; ++i) rows.table.values.push_back(random.normal());
    for (int i = 0; i < 3; ++i) rows.table.values.push_back(static_cast<double>(random.up_to(1)));
  }
  return rows;
}

// Outputs of each row, by explaining it.
std::vector<std::vector<double>> outputs_of(const NamedTable& rows) {
  std::vector<std::vector<double>> outputs;
  for (int64_t row = 0; row < rows.table.rows; ++row) {
    RowInput input{rows.names, {}};
    const auto first = rows.table.values.begin() + row * rows.table.columns;
    input.values.assign(first, first + rows.table.columns);
    outputs.push_back(
        explain(table_model(), input, {.methods = {{"saliency", {}}}})[0].output.values);
  }
  return outputs;
}

TEST(Importance, StartsFromTheScoreOfTheTable) {
  const NamedTable rows = some_rows(30);
  std::vector<double> answers(30);
  double right = 0, surprise = 0;
  const auto outputs = outputs_of(rows);
  for (size_t row = 0; row < 30; ++row) {
    answers[row] = row % 3 == 0;
    const double margin = outputs[row][1] - outputs[row][0];
    right += (margin > 0) == (answers[row] == 1);
    surprise += std::log1p(std::exp(answers[row] == 1 ? -margin : margin));
  }
  const ImportanceReport accuracy = importance(table_model(), rows, answers, {});
  EXPECT_EQ(accuracy.score, "accuracy");
  EXPECT_NEAR(accuracy.whole, right / 30, 1e-12);
  EXPECT_EQ(accuracy.columns.size(), 7u);
  EXPECT_EQ(accuracy.evaluations, 30 * (1 + 7 * 5));
  const ImportanceReport entropy =
      importance(table_model(), rows, answers, {.score = ImportanceScore::kCrossEntropy});
  EXPECT_NEAR(entropy.whole, -surprise / 30, 1e-5);
}

TEST(Importance, GroupsColumnsThatAreShuffledTogether) {
  const NamedTable rows = some_rows(12);
  const std::vector<double> answers(12, 1);
  const ImportanceReport report =
      importance(table_model(), rows, answers, {.groups = {{"b", "k"}, {"m", "c"}}});
  std::vector<std::string> names;
  for (const ColumnImportance& column : report.columns) names.push_back(column.name);
  EXPECT_THAT(names, ElementsAre("a", "b + k", "c + m", "d", "l"));
  EXPECT_THAT([&] { importance(table_model(), rows, answers, {.groups = {{"b"}, {"b"}}}); },
              ThrowsMessage<InvalidInput>(HasSubstr("in two groups")));
}

TEST(Importance, OfSageSumsToWhatAllColumnsSave) {
  const NamedTable rows = some_rows(16);
  std::vector<double> answers;
  for (const auto& outputs : outputs_of(rows)) answers.push_back(outputs[1] > outputs[0]);
  const ImportanceReport report = importance(table_model(), rows, answers,
                                             {.method = ImportanceMethod::kSage, .precision = 0.2});
  double sum = 0;
  for (const ColumnImportance& column : report.columns) sum += column.value;
  EXPECT_NEAR(sum, report.whole, 1e-9);
  EXPECT_GT(report.whole, 0);
}

TEST(Importance, RefusesAnswersThatAreNoClasses) {
  const NamedTable rows = some_rows(3);
  EXPECT_THAT([&] { importance(table_model(), rows, {0, 1, 2}, {}); },
              ThrowsMessage<InvalidInput>(
                  HasSubstr("the answer of row 2 is 2: this model's classes are 0 to 1")));
  EXPECT_THAT([&] { importance(table_model(), rows, {0, 1}, {}); },
              ThrowsMessage<InvalidInput>(HasSubstr("2 answers for 3 rows")));
  EXPECT_THAT([&] { importance(table_model(), rows, {0, 1, 1}, {.score = ImportanceScore::kR2}); },
              ThrowsMessage<InvalidInput>(HasSubstr("is for numbers")));
}

TEST(Importance, TakesSeedsThatNumPyTakes) {
  const NamedTable rows = some_rows(12);
  const std::vector<double> answers(12, 1);
  for (const ImportanceMethod method : {ImportanceMethod::kPermutation, ImportanceMethod::kSage}) {
    for (const int64_t seed : {int64_t{-1}, int64_t{1} << 32}) {
      EXPECT_THAT(
          [&] { importance(table_model(), rows, answers, {.method = method, .seed = seed}); },
          ThrowsMessage<InvalidInput>(HasSubstr("NumPy's generator takes 0 to 4294967295")));
    }
  }
}

TEST(Importance, HasANameForEachColumn) {
  NamedTable rows = some_rows(12);
  rows.names.pop_back();
  EXPECT_THAT(
      [&] { importance(table_model(), rows, std::vector<double>(12, 1), {}); },
      ThrowsMessage<InvalidInput>("a table of 12 rows and 7 columns has 6 names and 84 numbers"));
  rows = some_rows(12);
  rows.table.values.pop_back();
  EXPECT_THAT(
      [&] { importance(table_model(), rows, std::vector<double>(12, 1), {}); },
      ThrowsMessage<InvalidInput>("a table of 12 rows and 7 columns has 7 names and 83 numbers"));
}

}  // namespace
}  // namespace whyformer
