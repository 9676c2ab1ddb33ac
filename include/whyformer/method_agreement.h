// How far methods agree with each other, over many inputs.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "whyformer/agreement.h"
#include "whyformer/evaluation.h"

namespace whyformer {

// Measures of agreement, in the order of reports.
inline constexpr std::array kAgreementMeasures{"spearman",     "kendall", "top-k",
                                               "signed-top-k", "rbo",     "sign"};
inline constexpr size_t kAgreementMeasureCount = kAgreementMeasures.size();
using AgreementValues = std::array<std::optional<double>, kAgreementMeasureCount>;

struct AgreementRequest {
  ExplainRequest explain = {};  // two methods at least; their seed is that of the first run
  int64_t top_k = 0;            // 0: a fifth of the units, at least 1
  // Of rank-biased overlap; 0: 0.9, of which the first 10 ranks have 86 %, and 0.98 for 50 units or
  // more, of which the first 50 have it.
  double persistence = 0;
  bool magnitudes = false;  // compare |scores|, as for attention, which has no sign
};

// Scores of one input: of its ordinary units, by each method.
struct AgreementInput {
  std::string name;
  // What the units are called in every input, as columns of a table are; empty where each input has
  // units of its own.
  std::vector<std::string> columns = {};
  std::vector<std::string> methods;
  std::vector<bool>
      is_signed;  // whether a method's negative scores are evidence against the target
  std::vector<std::vector<double>> scores;  // [method][unit]; not a number where there is none
  // With another seed, for the ceiling; empty for methods that draw nothing.
  std::vector<std::vector<double>> again;
  std::string problem;  // why there are none; empty otherwise
};

// Throws InvalidInput for unknown methods and options and for a method that is asked for twice, and
// Interrupted.
AgreementInput agreement_input(const Model& model, const std::string& name, const InputValue& input,
                               const AgreementRequest& request);
// Of each input of a corpus, in order; the target of an entry, where it has one, is the one that is
// explained. Inputs of equal shapes run together where methods allow that. `progress` gets the
// number of finished inputs from any thread; where it says false, gives those that are done.
std::vector<AgreementInput> agreement_inputs(const Model& model,
                                             std::span<const EvaluationEntry> corpus,
                                             const AgreementRequest& request,
                                             const Progress& progress);

// Of two sets of scores; nothing where a measure is not defined. Units that one side does not score
// are left out on both. Signs are compared only where both sides have them.
struct SidesHaveSigns {
  bool both = true;
};
AgreementValues agreement_of(const std::vector<double>& a, const std::vector<double>& b,
                             SidesHaveSigns signs, const AgreementRequest& request);

struct AgreementCell {
  std::optional<double> mean;        // over inputs
  std::optional<double> deviation;   // sd over inputs; nothing with fewer than two
  std::optional<Interval> interval;  // nothing with fewer than two inputs
  int64_t inputs = 0;
  // Of correlations: inputs where one side's scores are all alike, and those of one unit.
  int64_t left_out = 0, one_unit = 0;
};
using AgreementCells = std::array<AgreementCell, kAgreementMeasureCount>;

// Of inputs that have the same columns.
struct ColumnAgreement {
  // Between the means of |score| over the inputs, one for each column. The interval resamples the
  // inputs. Signs are gone.
  AgreementCells means;
  // Spearman's correlation over the inputs, for each column: whether a column that counts more than
  // usual for one method does so for the other. Which columns count at all is not asked. It is what
  // TabSurvey (Borisov et al., 2022) tells, with average ranks.
  std::vector<std::optional<double>> each;
};

struct AgreementReport {
  static constexpr const char* kSchema = "whyformer.agreement/1";

  ModelName model;
  std::vector<std::string> methods;
  std::vector<std::vector<AgreementCells>> pairs;  // [method][method]
  // The same method with another seed, which is as far as methods can agree; 1 for those that draw
  // nothing.
  std::vector<AgreementCells> ceiling;
  // Pairs whose units were relabelled at random, which is what no agreement looks like.
  AgreementCells floor;
  std::optional<double> chance_of_top_k;  // k / units, mean over inputs
  std::vector<std::string> columns = {};  // that all inputs have; empty where they differ
  std::vector<std::vector<ColumnAgreement>> by_column = {};  // [method][method], where they do not
  int64_t inputs = 0;
  int64_t seed = 0;
  std::vector<std::string> notes;
};

AgreementReport summarise(const ModelName& model, const std::vector<AgreementInput>& inputs,
                          const AgreementRequest& request);

// A number over trained models.
struct AgreementSpread {
  double mean = 0;
  std::optional<double> deviation = {};  // nothing for one model
  double least = 0, most = 0;
  int64_t models = 0;
};
using AgreementSpreads = std::array<std::optional<AgreementSpread>, kAgreementMeasureCount>;

// The same methods on several trained models: agreement belongs to trained weights, not to methods.
struct AgreementOverModels {
  static constexpr const char* kSchema = "whyformer.agreement-over-models/1";

  std::vector<AgreementReport> models;
  std::vector<std::string> methods;  // that every model has
  // [method][method]: of the means over inputs, and of what is between mean |scores| of columns.
  std::vector<std::vector<AgreementSpreads>> pairs, columns;
};
AgreementOverModels over_models(std::vector<AgreementReport> models);

}  // namespace whyformer
