// Which columns of a table a model needs: importance over all rows, with the right answers known.
#pragma once

#include <string>
#include <vector>

#include "whyformer/tables.h"

namespace whyformer {

enum class ImportanceMethod {
  kPermutation,  // how much the score falls when a column is shuffled (Breiman, 2001)
  kSage  // Shapley values of the loss that columns save (Covert, Lundberg & Lee, NeurIPS 2020)
};

// How good answers are. Permutation importance takes the first two or, for numbers, the coefficient
// of determination; SAGE takes a loss.
enum class ImportanceScore {
  kAuto,  // accuracy, or r2 where the model gives a number; SAGE: cross-entropy, or the squared
          // error
  kAccuracy,
  kCrossEntropy,  // lower is better: importance is how much it rises
  kR2,
  kSquaredError
};

struct ImportanceRequest {
  ImportanceMethod method = ImportanceMethod::kPermutation;
  ImportanceScore score = ImportanceScore::kAuto;
  int64_t repeats = 5;  // permutation: shuffles of each column
  double precision =
      0.025;  // SAGE: stop when the largest standard error is this share of the values' range
  int64_t draws =
      0;  // SAGE: at most so many pairs of a row and an order of columns; 0: 512 for each column
  int64_t background_rows = 100;  // SAGE: rows that hidden columns are taken from
  std::vector<std::vector<std::string>> groups =
      {};  // columns that go together; those in none are alone
  int64_t seed = 0;
  Progress progress = {};  // false: gives what there is so far
};

struct ColumnImportance {
  std::string name;  // of a group: its columns, joined by " + "
  double value = 0;
  double error = 0;  // standard error of the value
};

struct ImportanceReport {
  static constexpr const char* kSchema = "whyformer.importance/1";

  ModelName model;
  std::string method;  // "permutation" or "sage"
  std::string score;   // "accuracy", "cross-entropy", "r2" or "squared-error"
  double whole = 0;    // the score of the table as it is; SAGE: what all columns save together
  int64_t rows = 0;
  std::vector<ColumnImportance> columns;  // in the table's order
  int64_t evaluations = 0;                // rows that were predicted
  double seconds = 0;
  int64_t seed = 0;
  bool finished = true;
  std::vector<std::string> notes = {};
};

// `answers` has the right class or number of each row. Throws InvalidInput where they do not fit
// the model.
ImportanceReport importance(const Model& model, const NamedTable& rows,
                            const std::vector<double>& answers, const ImportanceRequest& request);

// Right answers as they are written in a table: labels of the model, numbers of its classes, or the
// numbers of a regression. Throws InvalidInput for others.
std::vector<double> answers_in(const Model& model, const std::vector<std::string>& cells);

std::string to_json(const ImportanceReport& report);

}  // namespace whyformer
