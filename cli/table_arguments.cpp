#include "table_arguments.h"

#include <fmt/format.h>

#include "option_groups.h"
#include "whyformer/error.h"

namespace whyformer::cli {

void TableArguments::add_to(CLI::App& command) {
  start_group(command, OptionGroup::kInput);
  CLI::Option* has_table =
      command.add_option("--table", table, "table of numbers (CSV or safetensors)")
          ->type_name("FILE");
  has_row =
      command.add_option("--row", row, "row to explain, from 0 (default: all, as JSON lines)")
          ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
          ->needs(has_table)
          ->type_name("N");
  command
      .add_option("--background", background,
                  "background rows, for hidden columns (default: the table)")
      ->needs(has_table)
      ->type_name("FILE");
  command
      .add_option("--background-rows", background_rows,
                  "maximum number of background rows, drawn with seed 0")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str()
      ->needs(has_table)
      ->type_name("N");
  command
      .add_option("--kmeans", clusters,
                  "summarise the background by N k-means centres, as shap.kmeans")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 16))
      ->needs(has_table)
      ->type_name("N");
}

NamedTable TableArguments::read() const { return read_table(table); }

Background TableArguments::background_of_rows(const NamedTable& rows) const {
  const NamedTable given =
      background.empty() ? rows : in_order_of(rows.names, read_table(background));
  if (clusters > 0) return kmeans_background(given.table, clusters);
  return {background_of(given.table, background_rows), {}};
}

RowInput TableArguments::input(const NamedTable& rows, int64_t number) const {
  if (number >= rows.table.rows) {
    throw InvalidInput(fmt::format("there is no row {}: the table has {}, from 0 to {}", number,
                                   rows.table.rows, rows.table.rows - 1));
  }
  RowInput input;
  input.names = rows.names;
  const auto first = rows.table.values.begin() + number * rows.table.columns;
  input.values.assign(first, first + rows.table.columns);
  if (rows.table.rows > 1 || !background.empty()) {
    Background other = background_of_rows(rows);
    input.background = std::move(other.rows);
    input.weights = std::move(other.weights);
  }
  return input;
}

}  // namespace whyformer::cli
