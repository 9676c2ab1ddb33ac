// A function of a table whose Shapley values are known (scripts/golden/planted_table.py), and a
// model fitted to it.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_folder.h"
#include "whyformer/agreement.h"
#include "whyformer/games.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

std::filesystem::path planted_folder() { return source_folder() / "tests/golden/tables/planted"; }

nlohmann::json planted_truth() {
  std::ifstream file(planted_folder() / "truth.json");
  return nlohmann::json::parse(file);
}

using Numbers = std::vector<double>;

// The function itself; hidden columns are those of the background's rows.
class PlantedGame final : public Game {
 public:
  PlantedGame(const nlohmann::json& truth, Numbers row)
      : effects_(truth["effects"].get<Numbers>()),
        background_(truth["background"].get<std::vector<Numbers>>()),
        row_(std::move(row)) {}

  int64_t players() const override { return static_cast<int64_t>(row_.size()); }
  std::vector<double> values(const std::vector<Coalition>& coalitions) override {
    std::vector<double> results;
    for (const Coalition& coalition : coalitions) {
      double sum = 0;
      for (const Numbers& other : background_) {
        Numbers mixed;
        for (size_t i = 0; i < row_.size(); ++i) mixed.push_back(coalition[i] ? row_[i] : other[i]);
        sum += planted(mixed);
      }
      results.push_back(sum / static_cast<double>(background_.size()));
    }
    return results;
  }

 private:
  double planted(const Numbers& x) const {
    return 1.2 * x[0] + 1.5 * x[1] * x[2] + effects_[static_cast<size_t>(x[6])] +
           0.8 * std::max(x[3], 0.0);
  }

  Numbers effects_;
  std::vector<Numbers> background_;
  Numbers row_;
};

TEST(PlantedTable, GamesHaveTheClosedFormsShapleyValues) {
  const nlohmann::json truth = planted_truth();
  for (size_t row = 0; row < truth["rows"].size(); ++row) {
    PlantedGame game(truth, truth["rows"][row].get<Numbers>());
    const Numbers expected = truth["shapley"][row].get<Numbers>();
    const Numbers exact = exact_shap(game).values, kernel = kernel_shap(game, {}).values;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(exact[i], expected[i], 1e-12) << row << " " << i;
      EXPECT_NEAR(kernel[i], expected[i], 1e-9) << row << " " << i;
    }
  }
}

// How a method's scores stand to the true ones, over all rows.
struct AgainstTruth {
  double mean_rank_correlation = 0;
  double unused_is_last = 0;  // share of rows in which |score| of the unused column is the smallest
};

AgainstTruth against_truth(const std::string& method) {
  const nlohmann::json truth = planted_truth();
  const auto names = truth["columns"].get<std::vector<std::string>>();
  const Model model = Model::load(planted_folder());
  const NamedTable rows = read_cells(planted_folder() / "rows.csv");
  AgainstTruth result;
  for (int64_t row = 0; row < rows.table.rows; ++row) {
    const Explanation found = explain(model, row_of(rows, row), {.methods = {{method, {}}}})[0];
    Numbers expected, scores;
    double unused = 0, smallest_used = INFINITY;
    for (size_t i = 0; i < names.size(); ++i) {
      const auto unit = std::ranges::find(found.units, names[i], &Unit::column);
      const double score = std::abs(found.attributions[0].scores[unit - found.units.begin()]);
      scores.push_back(score);
      expected.push_back(std::abs(truth["shapley"][row][i].get<double>()));
      if (names[i] == "g")
        unused = score;
      else if (names[i] != "h")
        smallest_used = std::min(smallest_used, score);
    }
    result.mean_rank_correlation += spearman(scores, expected)->value;
    result.unused_is_last += unused <= smallest_used ? 1 : 0;
  }
  result.mean_rank_correlation /= static_cast<double>(rows.table.rows);
  result.unused_is_last /= static_cast<double>(rows.table.rows);
  return result;
}

TEST(PlantedTable, ExactShapFindsTheTruthInAModelThatWasFittedToIt) {
  const AgainstTruth found = against_truth("exact-shap");
  RecordProperty("rank correlation", std::to_string(found.mean_rank_correlation));
  EXPECT_GE(found.mean_rank_correlation, 0.95);
  EXPECT_GE(found.unused_is_last, 0.95);
}

// What the truth is there for: it tells methods apart.
TEST(PlantedTable, AttentionFindsLessOfTheTruthThanShap) {
  EXPECT_LT(against_truth("raw-attention:gorishniy").mean_rank_correlation, 0.95);
}

}  // namespace
}  // namespace whyformer
