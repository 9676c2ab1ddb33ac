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
  std::optional<int64_t> rank = {};           // 1 for the most important
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
  std::vector<std::string> notes = {};
};

// Throws InvalidInput where a side has other columns than the first, or there is none.
ComparedImportances compare_importances(std::vector<ImportanceSide> sides);

}  // namespace whyformer
