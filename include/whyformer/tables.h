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
  Table table;
};

// A CSV file of numbers, with or without names in its first line, or a safetensors file whose
// arrays [rows, columns] stand side by side in the order of their names. Throws FileError with the
// line that is wrong.
NamedTable read_table(const std::filesystem::path& path);

// A table without some of its columns, which are returned. Throws InvalidInput for a name that it
// does not have.
std::vector<double> take_column(NamedTable& table, const std::string& name);

// The table's columns in the order of these names, where it has them; tables without names keep
// theirs. Throws InvalidInput where names are missing or there are others.
NamedTable in_order_of(const std::vector<std::string>& names, const NamedTable& table);

// Throws InvalidInput for a table whose numbers do not fit its names.
void check_table(const NamedTable& table);

// Each row as an input of a table that fits.
std::vector<InputValue> rows_of(const NamedTable& table);

// So many rows at most, drawn with the seed 0 as the shap package draws them.
Table background_of(const Table& table, int64_t most_rows);

}  // namespace whyformer
