#include "table_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "option_groups.h"
#include "whyformer/error.h"

namespace whyformer::cli {

void TableArguments::add_to(CLI::App& command) {
  start_group(command, OptionGroup::kInput);
  command
      .add_option(
          "--table", table,
          "rows of a table (CSV or safetensors); without a model: for the built-in model of "
          "a census table")
      ->type_name("FILE");
  command
      .add_option("--background", background,
                  "background rows, for hidden columns (default: those that came with the model, "
                  "or the table)")
      ->type_name("FILE");
  has_background_rows = command
                            .add_option("--background-rows", background_rows,
                                        "maximum number of background rows, drawn with seed 0")
                            ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
                            ->capture_default_str()
                            ->type_name("N");
  command
      .add_option("--kmeans", clusters,
                  "summarise the background by N k-means centres, as shap.kmeans")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 16))
      ->type_name("N");
}

void TableArguments::add_row_to(CLI::App& command) {
  has_row = command
                .add_option("--row", chosen,
                            "row to explain: its number, from 0, or COLUMN=VALUE; several: "
                            "separated by commas, or --row again (default: all, as JSON lines; "
                            "without --table: a row that came with the model)")
                ->allow_extra_args(false)
                ->type_name("ROW");
}

void TableArguments::refuse_without_table() const {
  if (given() || (background.empty() && clusters == 0 && has_background_rows->count() == 0)) {
    return;
  }
  throw InvalidInput(
      "--background, --background-rows and --kmeans go with a table: --table rows.csv");
}

NamedTable TableArguments::read(const Model& model) const {
  if (!table.empty()) return read_table_for(model, table);
  const NamedTable& own = rows_with(model);
  if (own.table.rows > 0) return own;
  throw InvalidInput("this model has no sample rows: give a table, --table rows.csv");
}

SoundRows TableArguments::read_sound(const Model& model) const {
  if (!table.empty()) return read_sound_rows(model, table);
  return {read(model), {}};
}

namespace {

int64_t row_with(const NamedTable& rows, const std::string& column, const std::string& value) {
  NamedTable copy = rows;
  const std::vector<std::string> cells = take_cells(copy, column);
  int64_t found = -1;
  for (size_t row = 0; row < cells.size(); ++row) {
    if (cells[row] != value) continue;
    if (found >= 0) {
      throw InvalidInput(fmt::format(
          "several rows have {} = {}: give the number of one, such as {}", column, value, found));
    }
    found = static_cast<int64_t>(row);
  }
  if (found >= 0) return found;
  throw InvalidInput(fmt::format("there is no row with {} = {}", column, value));
}

}  // namespace

namespace {

int64_t row_numbered(const NamedTable& rows, std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    throw InvalidInput(fmt::format("--row {}: expected a number from 0 on, or COLUMN=VALUE", text));
  }
  if (number < rows.table.rows) return number;
  throw InvalidInput(fmt::format("there is no row {}: the table has {}, from 0 to {}", number,
                                 rows.table.rows, rows.table.rows - 1));
}

}  // namespace

// A value may have commas in it, numbers do not.
std::vector<int64_t> TableArguments::rows_in(const NamedTable& rows) const {
  std::vector<int64_t> found;
  for (const std::string& one : chosen) {
    if (const size_t equals = one.find('='); equals != one.npos) {
      found.push_back(row_with(rows, one.substr(0, equals), one.substr(equals + 1)));
      continue;
    }
    for (size_t at = 0; at <= one.size();) {
      const size_t end = std::min(one.find(',', at), one.size());
      found.push_back(row_numbered(rows, std::string_view(one).substr(at, end - at)));
      at = end + 1;
    }
  }
  return found;
}

int64_t TableArguments::row_in(const NamedTable& rows) const {
  const std::vector<int64_t> found = rows_in(rows);
  if (found.size() == 1) return found[0];
  throw InvalidInput(fmt::format("--row names {} rows: give one", found.size()));
}

void TableArguments::fill_background(const Model& model, const NamedTable& rows,
                                     RowInput& input) const {
  const bool own = model.reads_words() && background.empty();
  if (own && clusters == 0 && has_background(model)) return;
  if (background.empty() && rows.table.rows < 2) return;
  const NamedTable given =
      background.empty() ? rows : in_order_of(rows.names, read_table_for(model, background));
  if (clusters > 0) {
    if (!given.cells.empty()) {
      throw InvalidInput(
          "--kmeans averages numbers; this model's columns hold words: leave it out");
    }
    Background centres = kmeans_background(given.table, clusters);
    input.background = std::move(centres.rows);
    input.weights = std::move(centres.weights);
    return;
  }
  NamedTable drawn = background_of(given, background_rows);
  input.background = std::move(drawn.table);
  input.background_cells = std::move(drawn.cells);
}

RowInput TableArguments::input(const Model& model, const NamedTable& rows, int64_t number) const {
  RowInput input = row_of(rows, number);
  fill_background(model, rows, input);
  take_block(model, rows, number, input);
  return input;
}

void TableArguments::take_row(const Model& model, const NamedTable& rows, int64_t number,
                              RowInput& input) const {
  RowInput own = row_of(rows, number);
  input.values = std::move(own.values);
  input.cells = std::move(own.cells);
  input.number = own.number;
  take_block(model, rows, number, input);
}

void TableArguments::take_block(const Model& model, const NamedTable& rows, int64_t number,
                                RowInput& input) const {
  if (const int64_t block = block_rows(model); block > 0) add_block(input, rows, number, block);
}

std::vector<RowInput> TableArguments::inputs(const Model& model, const NamedTable& rows,
                                             int64_t count) const {
  if (count == 0) return {};
  std::vector<RowInput> inputs(count, input(model, rows, 0));
  for (int64_t row = 0; row < count; ++row) {
    if (row > 0) inputs[row].block = inputs[row - 1].block;
    take_row(model, rows, row, inputs[row]);
  }
  return inputs;
}

}  // namespace whyformer::cli
