// Agreement over inputs that have the same columns, and over trained models.
#include "evaluate/column_agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/numpy_random.h"

namespace whyformer {
namespace {

using Values = std::vector<double>;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

AgreementInput row_with(const Values& a, const Values& b) {
  AgreementInput row{.name = "row"};
  for (size_t i = 0; i < a.size(); ++i) row.columns.emplace_back(1, static_cast<char>('a' + i));
  row.methods = {"first", "second"};
  row.is_signed = {true, true};
  row.scores = {a, b};
  row.again.resize(2);
  return row;
}

AgreementReport summarised(const std::vector<AgreementInput>& rows,
                           const AgreementRequest& request = {}) {
  return summarise({"model", "kind"}, rows, request);
}

// ρ = 1 - 6 Σ d² / (n (n² - 1)) without ties.
double spearman_by_hand(const Values& a, const Values& b) {
  const auto n = static_cast<double>(a.size());
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    double difference = 0;
    for (size_t k = 0; k < a.size(); ++k)
      difference += (a[k] < a[i] ? 1 : 0) - (b[k] < b[i] ? 1 : 0);
    squares += difference * difference;
  }
  return 1 - 6 * squares / (n * (n * n - 1));
}

std::vector<AgreementInput> drawn_rows(int64_t count, size_t columns, uint32_t seed) {
  NumpyRandom random(seed);
  std::vector<AgreementInput> rows;
  for (int64_t row = 0; row < count; ++row) {
    Values a, b;
    for (size_t column = 0; column < columns; ++column) {
      a.push_back(random.normal());
      b.push_back(0.5 * a.back() + random.normal());
    }
    rows.push_back(row_with(a, b));
  }
  return rows;
}

TEST(AgreementOverInputs, TellsTheDeviationAndWhoWasLeftOut) {
  const std::vector<AgreementInput> rows{row_with({1, 2, 3, 4}, {1, 2, 3, 4}),
                                         row_with({1, 2, 3, 4}, {2, 1, 4, 3}),
                                         row_with({1, 2, 3, 4}, {5, 5, 5, 5})};
  const AgreementReport report = summarised(rows);
  const AgreementCell& cell = report.pairs[0][1][0];
  // Correlations 1 and 1 - 6·4/60.
  EXPECT_NEAR(*cell.mean, 0.8, 1e-12);
  EXPECT_NEAR(*cell.deviation, 0.2 * std::sqrt(2.0), 1e-12);
  EXPECT_EQ(cell.inputs, 2);
  EXPECT_EQ(cell.left_out, 1);
  EXPECT_EQ(report.pairs[0][1][2].left_out, 0) << "an overlap is defined for constant scores";
}

TEST(AgreementOverInputs, LeavesOutUnitsWithoutAScoreOnBothSides) {
  const AgreementValues some =
      agreement_of({1, kNone, 3, 4, 7}, {2, 9, 1, kNone, 5}, {}, {.top_k = 1});
  const AgreementValues both = agreement_of({1, 3, 7}, {2, 1, 5}, {}, {.top_k = 1});
  EXPECT_EQ(some, both);
  EXPECT_EQ(agreement_of({kNone, kNone}, {1, 2}, {}, {}), AgreementValues{});
}

TEST(AgreementOverInputs, OfTheHighestStandsBesideItsChance) {
  const AgreementReport report = summarised(drawn_rows(3, 8, 1), {.top_k = 3});
  EXPECT_NEAR(*report.chance_of_top_k, 3.0 / 8, 1e-12);
}

TEST(ColumnAgreement, ComparesMeansOfMagnitudes) {
  const std::vector<AgreementInput> rows = drawn_rows(20, 6, 2);
  Values a(6, 0.0), b(6, 0.0);
  for (const AgreementInput& row : rows) {
    for (size_t column = 0; column < 6; ++column) {
      a[column] += std::abs(row.scores[0][column]);
      b[column] += std::abs(row.scores[1][column]);
    }
  }
  const AgreementReport report = summarised(rows);
  ASSERT_EQ(report.columns.size(), 6u);
  const AgreementCell& cell = report.by_column[0][1].means[0];
  EXPECT_NEAR(*cell.mean, spearman_by_hand(a, b), 1e-12);
  EXPECT_LE(cell.interval->low, *cell.mean);
  EXPECT_GE(cell.interval->high, *cell.mean);
  EXPECT_EQ(report.by_column[1][0].means[0].mean, cell.mean);
  EXPECT_NEAR(*report.by_column[0][0].means[0].mean, 1, 1e-12);
  EXPECT_FALSE(report.by_column[0][1].means[5].mean) << "means of magnitudes have no sign";
}

// With the same rows again and again, every resample has the same means.
TEST(ColumnAgreement, OfEqualRowsHasAnIntervalOfNoWidth) {
  const std::vector<AgreementInput> rows(10, drawn_rows(1, 7, 3)[0]);
  const AgreementReport report = summarised(rows);
  const AgreementCell& cell = report.by_column[0][1].means[0];
  EXPECT_EQ(cell.interval->low, *cell.mean);
  EXPECT_EQ(cell.interval->high, *cell.mean);
}

TEST(ColumnAgreement, OfEachColumnIsTheCorrelationOverRows) {
  const std::vector<AgreementInput> rows = drawn_rows(15, 4, 4);
  const AgreementReport report = summarised(rows);
  for (size_t column = 0; column < 4; ++column) {
    Values a, b;
    for (const AgreementInput& row : rows) {
      a.push_back(row.scores[0][column]);
      b.push_back(row.scores[1][column]);
    }
    EXPECT_NEAR(*report.by_column[0][1].each[column], spearman_by_hand(a, b), 1e-12) << column;
  }
}

// What the two questions are about: the same profile of columns and independent noise.
TEST(ColumnAgreement, IsAnotherQuestionThanAgreementWithinRows) {
  NumpyRandom random(5);
  std::vector<AgreementInput> rows;
  for (int row = 0; row < 400; ++row) {
    Values a, b;
    for (int column = 0; column < 10; ++column) {
      a.push_back(column + 0.8 * random.normal());
      b.push_back(column + 0.8 * random.normal());
    }
    rows.push_back(row_with(a, b));
  }
  const AgreementReport report = summarised(rows);
  EXPECT_GT(*report.pairs[0][1][0].mean, 0.85);
  for (const std::optional<double>& one : report.by_column[0][1].each)
    EXPECT_LT(std::abs(*one), 0.2);  // four standard deviations of 1/√399
}

TEST(ColumnAgreement, IsNotAskedOfInputsWithUnitsOfTheirOwn) {
  std::vector<AgreementInput> rows = drawn_rows(3, 4, 6);
  rows[1].columns[2] = "other";
  EXPECT_TRUE(summarised(rows).by_column.empty());
  for (AgreementInput& row : rows) row.columns.clear();
  EXPECT_TRUE(summarised(rows).columns.empty());
}

TEST(ColumnAgreement, LeavesOutColumnsThatAMethodDoesNotScore) {
  std::vector<AgreementInput> rows = drawn_rows(12, 5, 7);
  std::vector<AgreementInput> fewer = rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].scores[0][2] = kNone;
    fewer[i] = row_with(
        {rows[i].scores[0][0], rows[i].scores[0][1], rows[i].scores[0][3], rows[i].scores[0][4]},
        {rows[i].scores[1][0], rows[i].scores[1][1], rows[i].scores[1][3], rows[i].scores[1][4]});
  }
  const ColumnAgreement found = summarised(rows).by_column[0][1];
  EXPECT_EQ(found.means[0].mean, summarised(fewer).by_column[0][1].means[0].mean);
  EXPECT_FALSE(found.each[2]);
}

TEST(AgreementOverModels, IsTheSpreadOfTheirMeans) {
  std::vector<AgreementReport> reports;
  Values means;
  for (const uint32_t seed : {8, 9, 10}) {
    reports.push_back(summarised(drawn_rows(9, 6, seed)));
    means.push_back(*reports.back().pairs[0][1][0].mean);
  }
  const AgreementOverModels found = over_models(reports);
  EXPECT_THAT(found.methods, testing::ElementsAre("first", "second"));
  const AgreementSpread& spread = *found.pairs[0][1][0];
  const double mean = (means[0] + means[1] + means[2]) / 3;
  double squares = 0;
  for (const double one : means) squares += (one - mean) * (one - mean);
  EXPECT_NEAR(spread.mean, mean, 1e-12);
  EXPECT_NEAR(*spread.deviation, std::sqrt(squares / 2), 1e-12);
  EXPECT_EQ(spread.least, std::min({means[0], means[1], means[2]}));
  EXPECT_EQ(spread.most, std::max({means[0], means[1], means[2]}));
  EXPECT_EQ(spread.models, 3);
  EXPECT_TRUE(found.columns[0][1][0]);
}

TEST(AgreementOverModels, HasTheMethodsThatEveryModelHas) {
  std::vector<AgreementReport> reports{summarised(drawn_rows(4, 5, 11)),
                                       summarised(drawn_rows(4, 5, 12))};
  reports[1].methods = {"second", "third"};
  const AgreementOverModels found = over_models(reports);
  EXPECT_THAT(found.methods, testing::ElementsAre("second"));
}

}  // namespace
}  // namespace whyformer
