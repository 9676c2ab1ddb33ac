// Rows of a table whose cells are mixed, as a model of tables answers them.
#pragma once

#include "readers/row_layout.h"
#include "run/column_source.h"

namespace whyformer {

class MixedRows final : public ColumnSource {
 public:
  MixedRows(std::shared_ptr<const RowSource> source, const RowLayout& layout,
            const NamedTable& table);

  const ColumnFacts& facts() const override { return facts_; }
  std::vector<double> outputs(std::span<const double> values, int64_t count) const override;

 private:
  void take_words(const RowLayout& layout, const NamedTable& table);
  std::vector<double> numbers_of(const double* row) const;

  std::shared_ptr<const RowSource> source_;
  ColumnFacts facts_;
  std::vector<TableColumn> places_;
  std::vector<std::vector<int64_t>> places_of_column_;  // one for each number without words
  std::vector<std::vector<double>> encoded_;            // the table's rows, for a model of words
};

}  // namespace whyformer
