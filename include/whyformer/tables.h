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

struct RowInput {
  std::vector<std::string> names;
  std::vector<double> values;
  // Rows that hidden columns are taken from, and their weights; none: all count the same.
  Table background = {};
  std::vector<double> weights = {};
};

// So many rows at most, drawn with the seed 0 as the shap package draws them.
Table background_of(const Table& table, int64_t most_rows);

// Names of a few methods that fit the model and the row, for those who name none.
std::vector<std::string> usual_methods(const Model& model, const RowInput& row);

// Units are the columns, and class tokens where the model has some.
Explanation explain(const Model& model, const RowInput& row, const ExplainRequest& request);

}  // namespace whyformer
