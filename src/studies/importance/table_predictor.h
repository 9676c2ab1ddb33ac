// Predictions of a table model for rows whose cells are mixed: shuffled, or taken from others.
#pragma once

#include <string>
#include <vector>

#include "readers/row_reader.h"

namespace whyformer {

class TablePredictor {
 public:
  TablePredictor(const RowReader& reader, const NamedTable& table);

  // What is mixed: the table's numbers; or, for a model that reads words, which row each cell comes
  // from. Columns that the model does not read are left out.
  const Table& table() const { return table_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& notes() const { return notes_; }

  int64_t width() const { return width_; }
  Problem problem() const { return problem_; }
  int64_t predicted() const { return predicted_; }

  // Of rows like those of the table: probabilities of the classes, or numbers.
  std::vector<double> operator()(const std::vector<double>& values, int64_t count);

 private:
  void take_words(const RowReader& reader, const NamedTable& table);
  std::vector<double> numbers_of(const double* row) const;

  const RowSource& source_;
  Table table_;
  std::vector<std::string> names_, notes_;
  std::vector<TableColumn> places_;
  std::vector<std::vector<int64_t>> places_of_column_;  // one for each number without words
  std::vector<std::vector<double>> encoded_;            // the table's rows, for a model of words
  Problem problem_;
  int64_t width_ = 0;
  int64_t predicted_ = 0;
};

}  // namespace whyformer
