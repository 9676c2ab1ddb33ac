// The built-in table model, measured by our own engine on the rows that come with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/support/source_folder.h"
#include "whyformer/answers.h"
#include "whyformer/tables.h"
#include "whyformer/threads.h"

namespace whyformer {
namespace {

// As its card says, "81.5% are right".
double share_of_the_card() {
  std::ifstream file(source_folder() / "models/income/README.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string card = text.str();
  std::smatch found;
  if (!std::regex_search(card, found, std::regex(R"(([0-9.]+)% are right)"))) return -1;
  return std::stod(found[1]) / 100;
}

class BuiltInTableModel : public testing::Test {
 protected:
  void TearDown() override { set_threads(2); }

  Model model_ = Model::built_in_for_tables();
  NamedTable rows_ = rows_with(model_);
};

TEST_F(BuiltInTableModel, IsAsOftenRightOnItsRowsAsItsCardSays) {
  const std::vector<std::string> incomes = take_cells(rows_, "income");
  const Answers found = answers(model_, rows_of(rows_));
  ASSERT_EQ(found.inputs.size(), 200u);
  int64_t right = 0;
  for (size_t row = 0; row < incomes.size(); ++row) {
    const auto& values = found.inputs[row].values;
    right += found.labels[std::ranges::max_element(values) - values.begin()] == incomes[row];
  }
  EXPECT_DOUBLE_EQ(static_cast<double>(right) / 200, share_of_the_card());
}

TEST_F(BuiltInTableModel, TellsOfWordsThatItReadsAsUnknown) {
  RowInput row = row_of(rows_, 1);
  const auto column = std::ranges::find(row.names, "workclass") - row.names.begin();
  const auto notes = [&](const std::string& word) {
    row.cells[column] = word;
    return explain(model_, row, {.methods = {{"gae", {}}}})[0].notes;
  };
  EXPECT_THAT(notes("Lokal-gov"), testing::Contains(testing::AllOf(
                                      testing::HasSubstr("'Lokal-gov' in the column 'workclass'"),
                                      testing::HasSubstr("Local-gov"))));
  EXPECT_THAT(notes("Local-gov"),
              testing::Each(testing::Not(testing::HasSubstr("no known category"))));
}

TEST_F(BuiltInTableModel, AnswersAreTheSameBitsAloneTogetherAndByAnyNumberOfThreads) {
  const std::vector<InputValue> rows = rows_of(rows_);
  set_threads(1);
  const Answers one = answers(model_, rows);
  set_threads(2);
  const Answers two = answers(model_, rows);
  for (size_t row = 0; row < rows.size(); ++row) {
    EXPECT_EQ(one.inputs[row].values, two.inputs[row].values) << row;
    EXPECT_EQ(answers(model_, {rows[row]}).inputs[0].values, two.inputs[row].values) << row;
  }
}

TEST_F(BuiltInTableModel, ScoresAreTheSameBitsByAnyNumberOfThreads) {
  const RowInput row = row_of(rows_, 17);
  ExplainRequest request{.methods = {{"gae", {}},
                                     {"raw-attention:gorishniy", {}},
                                     {"rollout", {}},
                                     {"kernel-shap", {{"samples", int64_t{256}}}}}};
  set_threads(1);
  const Explanation one = explain(model_, row, request)[0];
  set_threads(2);
  const Explanation two = explain(model_, row, request)[0];
  ASSERT_EQ(one.attributions.size(), 4u);
  for (size_t i = 0; i < one.attributions.size(); ++i)
    EXPECT_EQ(one.attributions[i].scores, two.attributions[i].scores) << request.methods[i].name;
}

}  // namespace
}  // namespace whyformer
