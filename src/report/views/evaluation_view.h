// Words and orders that all reports of evaluations and agreement share.
#pragma once

#include <string>
#include <vector>

#include "whyformer/evaluation.h"
#include "whyformer/method_agreement.h"

namespace whyformer::report {

// "Methods on MODEL", with the protocol.
std::string evaluation_title(const Evaluation& evaluation);
// Columns that are defined for some method, but for points of curves; those without are named in a
// note.
std::vector<size_t> columns_with_values(const Evaluation& evaluation);
// The points of each curve that are defined for some method.
struct EvaluationCurve {
  std::string name;
  std::vector<size_t> columns;
};
std::vector<EvaluationCurve> curves_with_values(const Evaluation& evaluation);
// "comprehensiveness ↑", with the way of hiding where there are several.
std::string column_title(const Evaluation& evaluation, size_t column);
// The mean with its interval: "0.312 [0.28, 0.35]"; "–" where nothing is defined.
std::string cell_words(const EvaluationCell& cell);
// "40 inputs, intervals of 95 %, …".
std::string evaluation_facts(const Evaluation& evaluation);
// Methods with the mean of their ranks over all columns, the best first; the baseline is left out.
struct MeanRank {
  size_t method = 0;
  double rank = 0;
};
std::vector<MeanRank> mean_ranks(const Evaluation& evaluation);
// What the tests say of a column: the methods that the best is not told apart from.
std::string test_words(const Evaluation& evaluation, size_t column);

std::string agreement_facts(const AgreementReport& report);
std::string agreement_words(const AgreementCell& cell);

}  // namespace whyformer::report
