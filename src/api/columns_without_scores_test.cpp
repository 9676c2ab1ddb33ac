// A TabTransformer's numbers are beside its tokens: they have no score by attention, which is not
// 0, from the folder to every report.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "whyformer/method_agreement.h"
#include "whyformer/report.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

using testing::Contains;
using testing::HasSubstr;

// tests/golden/tables/presets has TabSurvey's TabTransformer: three numbers, three categories.
std::filesystem::path tab_folder() {
  return source_folder() / "tests/golden/tables/presets/lucid-tab.survey";
}

Explanation explained_row(const std::vector<MethodRequest>& methods) {
  const NamedTable rows = read_cells(tab_folder() / "rows.csv");
  return explain(Model::load(tab_folder()), row_of(rows, 0), {.methods = methods})[0];
}

bool is_number(const Unit& unit) { return !unit.category; }

TEST(ColumnsWithoutScores, AreNotANumberWithANoteThatCountsThem) {
  for (const std::string method : {"raw-attention:all-layers-column", "raw-attention:widedeep",
                                   "rollout", "gae", "attention-flow", "grad-sam"}) {
    const Explanation found = explained_row({{method, {}}});
    ASSERT_EQ(found.attributions.size(), 1u)
        << method << ": " << (found.refused.empty() ? "" : found.refused[0].reason);
    for (size_t i = 0; i < found.units.size(); ++i) {
      EXPECT_EQ(std::isnan(found.attributions[0].scores[i]), is_number(found.units[i]))
          << method << " " << found.units[i].column;
    }
    EXPECT_THAT(found.attributions[0].notes,
                Contains("Numerical columns do not take part in this model's attention: 3 of 6 "
                         "units have no score."))
        << method;
  }
}

TEST(ColumnsWithoutScores, HaveScoresByMethodsThatHideThem) {
  const Explanation found = explained_row({{"exact-shap", {}}});
  for (const double score : found.attributions[0].scores) EXPECT_TRUE(std::isfinite(score));
}

TEST(ColumnsWithoutScores, AreNullInJsonADashInTheTerminalAndHatchedOnThePage) {
  const Explanation found = explained_row({{"gae", {}}, {"exact-shap", {}}});
  const nlohmann::json json = nlohmann::json::parse(to_json(found));
  for (size_t i = 0; i < found.units.size(); ++i) {
    const bool number = is_number(found.units[i]);
    EXPECT_EQ(json["attributions"][0]["scores"][i].is_null(), number) << i;
    EXPECT_FALSE(json["attributions"][1]["scores"][i].is_null()) << i;
    EXPECT_EQ(json["units"][i]["cell"]["covered"], !number) << i;
  }
  const std::string text = to_terminal(found, {.colour = false, .width = 100});
  EXPECT_THAT(text, HasSubstr("–"));
  EXPECT_THAT(text, HasSubstr("Columns with – have no score by this method."));
  EXPECT_THAT(to_html(std::vector{found}), HasSubstr("hatch"));
}

TEST(ColumnsWithoutScores, AreLeftOutOfAgreementOnBothSides) {
  const NamedTable rows = read_cells(tab_folder() / "rows.csv");
  const Model model = Model::load(tab_folder());
  AgreementRequest request{.explain = {.methods = {{"exact-shap", {}}, {"gae", {}}}},
                           .magnitudes = true};
  std::vector<AgreementInput> inputs;
  for (int64_t row = 0; row < rows.table.rows; ++row)
    inputs.push_back(agreement_input(model, "row", row_of(rows, row), request));
  for (const AgreementInput& input : inputs) {
    ASSERT_EQ(input.problem, "");
    std::vector<double> shap, gae;
    for (size_t i = 0; i < input.scores[0].size(); ++i) {
      if (std::isnan(input.scores[1][i])) continue;
      shap.push_back(std::abs(input.scores[0][i]));
      gae.push_back(std::abs(input.scores[1][i]));
    }
    ASSERT_EQ(gae.size(), 3u);
    const AgreementValues found =
        agreement_of(input.scores[0], input.scores[1], {.both = false}, request);
    const std::optional<Correlation> expected = spearman(shap, gae);
    ASSERT_EQ(found[0].has_value(), expected.has_value());
    if (expected) {
      EXPECT_NEAR(*found[0], expected->value, 1e-12);
    }
  }
}

TEST(ColumnsWithoutScores, TheReadOutTokensRowIsRefusedWhereThereIsNone) {
  const Explanation found = explained_row({{"raw-attention:gorishniy", {}}, {"gae", {}}});
  ASSERT_EQ(found.refused.size(), 1u);
  EXPECT_THAT(found.refused[0].reason, HasSubstr("read-out"));
}

}  // namespace
}  // namespace whyformer
