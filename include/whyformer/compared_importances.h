// Importances of a table's columns by several methods, side by side.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "whyformer/explanation.h"
#include "whyformer/importance.h"

namespace whyformer {

struct RankedImportance {
  std::optional<double> value = {};           // nothing where a method has no score for the column
  std::optional<double> low = {}, high = {};  // of 95 %
  std::optional<double> rank = {};  // 1 for the most important; ties share the mean of theirs
};

// One method's importance of every column.
struct ImportanceSide {
  std::string method;
  std::string what;  // "mean |score|", "fall of accuracy", "saved cross-entropy"
  std::vector<std::string> names;
  std::vector<RankedImportance> columns;  // as many
};

// Mean |score| over rows; the interval resamples them. Throws InvalidInput where the explanations
// have no scores by that method, or their units are not the same columns.
ImportanceSide importance_side(std::span<const Explanation> rows, const std::string& method,
                               int64_t seed = 0);
// The value ± 1.96 standard errors.
ImportanceSide importance_side(const ImportanceReport& report);

struct ComparedImportances {
  static constexpr const char* kSchema = "whyformer.compared-importances/1";

  ModelName model;
  int64_t rows = 0;
  std::vector<std::string> columns;   // the best mean rank first
  std::vector<ImportanceSide> sides;  // in the order of the columns
  int64_t seed = 0;
  bool stopped_early = false;
  std::vector<std::string> notes = {};
};

// Throws InvalidInput where a side has other columns than the first, or there is none.
ComparedImportances compare_importances(std::vector<ImportanceSide> sides);

struct CompareImportancesRequest {
  // Methods that explain each row; none: attention as in FT-Transformer's paper, and SHAP. Its
  // progress is not asked.
  ExplainRequest explain = {};
  // Permutation importance and SAGE, each in its turn; SAGE takes the loss that belongs to a score
  // which is none. Columns stand alone. Its background rows are those of the explained rows, too,
  // for a model that brings none; its seed is that of everything.
  ImportanceRequest importance = {};
  // Of each part in its turn; false: what is done by then, where that is two sides or more, else
  // Interrupted.
  Progress progress = {};
};

// Of the rows of a table, whose right answers are known. A row that cannot be explained is left out
// of the methods that explain rows, and a method that refuses a row is left out; notes tell both.
// Throws InvalidInput where no row can be explained, or there is one alone.
ComparedImportances compare_importances(const Model& model, const NamedTable& rows,
                                        const std::vector<double>& answers,
                                        const CompareImportancesRequest& request);

}  // namespace whyformer
