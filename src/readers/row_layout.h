// How the cells of a row become the numbers that its model reads: number by number, or as
// table.json says, by the names of columns.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/tables/table_spec.h"
#include "models/row_source.h"
#include "whyformer/input.h"
#include "whyformer/tables.h"

namespace whyformer {

// A column as the user calls it.
struct PlacedColumn {
  std::string name;
  std::string shown;             // its cell as it was written
  std::vector<int64_t> places;   // among the model's numbers
  bool category = false;         // whose numbers have no mean
  bool missing = false;          // the cell has no value
  std::optional<double> number;  // of a cell that is one
};

// A row as its model reads it.
struct PlacedRow {
  std::vector<PlacedColumn> columns;
  bool named = false;          // table.json tells which number is which column
  std::vector<double> values;  // the model's numbers
  Table background = {};       // the same of other rows
  std::vector<double> weights = {};
};

struct NumberRange {
  double min = 0, max = 0;
};

class RowLayout {
 public:
  // Of a model that is told numbers in its own order.
  explicit RowLayout(std::shared_ptr<const RowSource> source);
  // Throws FileError where the places of table.json are not those of the model. `background` are
  // the rows that come with the model, as they were written; it may be empty.
  RowLayout(std::shared_ptr<const RowSource> source, TableSpec spec, const NamedTable& background);

  bool reads_words() const { return spec_ != nullptr; }
  const TableSpec* spec() const { return spec_.get(); }
  bool has_background() const { return own_background_.rows > 0; }
  // How many numbers the model reads of this row, and which.
  int64_t count(const RowInput& row) const;
  std::vector<TableColumn> places(const RowInput& row) const;

  // The model's numbers for a row. Throws InvalidInput for columns that are missing or cells that
  // the model cannot take.
  std::vector<double> numbers(const RowInput& row) const;
  // The cells that the model reads, in its order, as a text.
  std::string told(const RowInput& row) const;
  // The cell of what the model predicts, where the table has that too and it is one of the labels.
  std::optional<std::string> answer_in(const RowInput& row) const;
  // The same with the background; what is ignored is noted.
  PlacedRow placed(const RowInput& row, std::vector<std::string>& notes) const;

 private:
  using Order = std::vector<size_t>;  // of the model's columns among those of a row
  void find_places();
  PlacedRow placed_numbers(const RowInput& row) const;
  PlacedRow placed_cells(const RowInput& row, std::vector<std::string>& notes) const;
  Order order_in(const std::vector<std::string>& names) const;
  // The numbers of one row of cells.
  std::vector<double> encoded_row(const Order& order, const std::vector<std::string>& cells,
                                  size_t first) const;
  Table encoded_table(const std::vector<std::string>& names, const std::vector<std::string>& cells,
                      int64_t rows) const;
  void find_ranges(const NamedTable& background);
  void note_ignored(const RowInput& row, const Order& order, std::vector<std::string>& notes) const;
  void note_unknown_categories(const std::vector<std::string>& cells, const Order& order,
                               std::vector<std::string>& notes) const;
  void note_scaled_numbers(const RowInput& row, const Order& order,
                           std::vector<std::string>& notes) const;

  std::shared_ptr<const RowSource> source_;
  std::shared_ptr<const TableSpec> spec_;
  std::vector<TableColumn> all_places_;                // of a model with table.json
  std::vector<std::vector<int64_t>> column_places_;    // of each column of table.json
  std::vector<std::optional<int64_t>> missing_place_;  // likewise: where a missing cell is told
  Table own_background_ = {};
  // Of each column of numbers, as they are written in the rows that it was made from.
  std::vector<std::optional<NumberRange>> ranges_ = {};
};

}  // namespace whyformer
