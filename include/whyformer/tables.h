// Rows of tables: reading them, and explaining what a model says of one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "whyformer/games.h"
#include "whyformer/model.h"

namespace whyformer {

struct NamedTable {
  std::vector<std::string> names;  // of the columns
  Table table;                     // cells that are no numbers are not a number here
  // As they were written, row by row, for models that read words; empty: numbers alone.
  std::vector<std::string> cells = {};
};

// A CSV file of numbers, with or without names in its first line, or a safetensors file whose
// arrays [rows, columns] stand side by side in the order of their names. Throws FileError with the
// line that is wrong.
NamedTable read_table(const std::filesystem::path& path);
// A CSV file of words and numbers as they are written, with names in its first line, separated by
// commas, semicolons or tabs. Throws FileError with the line that is wrong.
NamedTable read_cells(const std::filesystem::path& path);
// The one of the two that the model reads.
NamedTable read_table_for(const Model& model, const std::filesystem::path& path);

// A row that cannot be read, as one with too few cells.
struct BrokenRow {
  int64_t number = 0;  // among all rows, from 0
  std::string problem;
};
struct SoundRows {
  NamedTable rows;
  std::vector<BrokenRow> broken;
};
// Rows that can be read, and those that cannot. Throws FileError where there is no sound row, and
// for what concerns the whole file.
SoundRows read_sound_rows(const Model& model, const std::filesystem::path& path);

// Rows that came with a model as examples; none where it has none.
const NamedTable& rows_with(const Model& model);
// Names of the columns that a model finds by their names, and of its answers; empty for one that
// reads numbers in its own order.
std::vector<std::string> column_names(const Model& model);
std::vector<std::string> answer_names(const Model& model);
// Whether rows came with it that hidden columns are taken from.
bool has_background(const Model& model);

// A table without some of its columns, which are returned. Throws InvalidInput for a name that it
// does not have.
std::vector<double> take_column(NamedTable& table, const std::string& name);
// The same of cells as they were written; for a table of numbers alone their text.
std::vector<std::string> take_cells(NamedTable& table, const std::string& name);

// The table's columns in the order of these names, where it has them; tables without names keep
// theirs. Throws InvalidInput where names are missing or there are others.
NamedTable in_order_of(const std::vector<std::string>& names, const NamedTable& table);

// Throws InvalidInput for a table whose numbers do not fit its names.
void check_table(const NamedTable& table);

// A row as an input, without a background.
RowInput row_of(const NamedTable& table, int64_t row);
// The rows of a block of a table, of a model that explains rows in their blocks; 0 for others.
int64_t block_rows(const Model& model);
// Gives a row its block of the table, rows [k · block, (k + 1) · block); one that it has is kept.
void add_block(RowInput& input, const NamedTable& table, int64_t row, int64_t block);
// Each row as an input of a table that fits.
std::vector<InputValue> rows_of(const NamedTable& table);

// So many rows at most, drawn with the seed 0 as the shap package draws them.
Table background_of(const Table& table, int64_t most_rows);
NamedTable background_of(const NamedTable& table, int64_t most_rows);

}  // namespace whyformer
