#include "report/views/row_agreement.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/sample_rows.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Five columns; kernel-shap has 1, .5, .25 and less, gae no score for one.
Explanation with_scores(const std::vector<double>& shap, const std::vector<double>& other) {
  Explanation explanation = row_sample();
  explanation.attributions.resize(2);
  size_t column = 0;
  Estimate& estimate = *explanation.attributions[0].estimate;
  estimate.value = estimate.base;
  for (size_t unit = 0; unit < explanation.units.size(); ++unit) {
    if (explanation.units[unit].special) continue;
    estimate.value += explanation.attributions[0].scores[unit] = shap[column];
    explanation.attributions[1].scores[unit] = other[column++];
  }
  return explanation;
}

TEST(RowAgreement, IsSpearmansOverTheColumnsThatBothScore) {
  const double none = std::nan("");
  // Ranks 1 2 3 4 against 2 1 3 4: 1 - 6 · 2 / (4 · 15) = 0.8; signs do not count.
  EXPECT_THAT(
      row_agreement_sentence(with_scores({-1, 2, -3, 4, 9}, {2, -1, 3, 4, none})),
      HasSubstr("Agreement with kernel-shap in this row (Spearman of |scores|): gae 0.80."));
  EXPECT_THAT(row_agreement_sentence(with_scores({1, 2, 3, 4, 5}, {7, 7, 7, 7, 7})),
              HasSubstr("gae undefined"));
}

TEST(RowAgreement, NeedsAReferenceAndSomethingBesideIt) {
  Explanation explanation = row_sample();
  explanation.attributions.resize(1);
  EXPECT_THAT(row_agreement_sentence(explanation), IsEmpty());
  explanation = row_sample();
  explanation.attributions.erase(explanation.attributions.begin());
  EXPECT_THAT(row_agreement_sentence(explanation), IsEmpty());
}

TEST(RowAgreement, StandsBesideTheScoresInTheTerminal) {
  EXPECT_THAT(to_terminal(row_sample(), {.colour = false, .width = 200}),
              HasSubstr("Agreement with kernel-shap in this row"));
}

}  // namespace
}  // namespace whyformer::report
