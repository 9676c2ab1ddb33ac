#include "readers/row_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "whyformer/error.h"

namespace whyformer {
namespace {

// Inputs of checkpoint_row_source: numbers, and which cells are missing where the model has a
// vector for that.
constexpr std::string_view kNumbersInput = "x_cont", kMissingInput = "x_missing";

void check_weights(const RowInput& row) {
  constexpr double kRounding = 1e-6;
  if (row.weights.empty()) return;
  if (static_cast<int64_t>(row.weights.size()) != row.background.rows) {
    throw InvalidInput(fmt::format("the background has {} rows, but {} weights",
                                   row.background.rows, row.weights.size()));
  }
  double sum = 0;
  for (size_t i = 0; i < row.weights.size(); ++i) {
    const double weight = row.weights[i];
    if (!std::isfinite(weight) || weight < 0) {
      throw InvalidInput(fmt::format(
          "the weight of background row {} is {}: expected a number of 0 or more", i, weight));
    }
    sum += weight;
  }
  if (std::abs(sum - 1) <= kRounding) return;
  throw InvalidInput(fmt::format("the weights of the background sum to {:g}, not to 1", sum));
}

void check_cells(size_t cells, size_t values, const char* what) {
  if (cells == 0 || cells == values) return;
  throw InvalidInput(fmt::format("{} of {} values with {} cells", what, values, cells));
}

void check(const RowInput& row) {
  if (row.names.size() != row.values.size()) {
    throw InvalidInput(
        fmt::format("a row of {} numbers with {} names", row.values.size(), row.names.size()));
  }
  const Table& background = row.background;
  if (background.rows < 0 ||
      static_cast<int64_t>(background.values.size()) != background.rows * background.columns) {
    throw InvalidInput(fmt::format("a background of {} rows and {} columns has {} numbers",
                                   background.rows, background.columns, background.values.size()));
  }
  if (background.rows > 0 && background.columns != static_cast<int64_t>(row.values.size())) {
    throw InvalidInput(fmt::format("the background has {} columns, but the row has {}",
                                   background.columns, row.values.size()));
  }
  check_cells(row.cells.size(), row.values.size(), "a row");
  check_cells(row.background_cells.size(), background.values.size(), "a background");
  check_weights(row);
}

void refuse_words(const RowInput& row) {
  for (size_t i = 0; i < row.cells.size(); ++i) {
    if (!std::isnan(row.values[i])) continue;
    throw InvalidInput(fmt::format(
        "'{}' in column '{}' is not a number; this model reads numbers alone: give categories as "
        "the numbers that it takes",
        row.cells[i].substr(0, 40), row.names[i]));
  }
}

// As it would be written: 3, not 3.0; nothing for what is no number.
std::string cell_of(double number) {
  return std::isnan(number) ? std::string() : fmt::format("{}", number);
}

std::vector<std::string> cells_of(const std::vector<std::string>& cells,
                                  const std::vector<double>& values) {
  if (!cells.empty()) return cells;
  std::vector<std::string> made;
  for (const double value : values) made.push_back(cell_of(value));
  return made;
}

std::string quoted(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back("'" + name.substr(0, 60) + "'");
  constexpr size_t kMost = 12;
  const size_t more = shown.size() > kMost ? shown.size() - kMost : 0;
  if (more > 0) shown.resize(kMost);
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

RowLayout::RowLayout(std::shared_ptr<const RowSource> source) : source_(std::move(source)) {}

RowLayout::RowLayout(std::shared_ptr<const RowSource> source, TableSpec spec,
                     const NamedTable& background)
    : source_(std::move(source)), spec_(std::make_shared<const TableSpec>(std::move(spec))) {
  find_places();
  if (background.table.rows > 0) {
    own_background_ =
        encoded_table(background.names, cells_of(background.cells, background.table.values),
                      background.table.rows);
  }
  find_ranges(background);
}

namespace {

void widen(std::optional<NumberRange>& range, double number) {
  if (!std::isfinite(number)) return;
  if (!range) range = {number, number};
  range->min = std::min(range->min, number);
  range->max = std::max(range->max, number);
}

}  // namespace

void RowLayout::find_ranges(const NamedTable& background) {
  for (const ColumnSpec& column : spec_->columns) {
    ranges_.emplace_back();
    if (column.kind != ColumnKind::kNumber) continue;
    if (!column.steps.empty()) {
      if (const auto* step = std::get_if<QuantileStep>(&column.steps[0])) {
        for (const double quantile : step->quantiles) widen(ranges_.back(), quantile);
      }
    }
    const auto found = std::ranges::find(background.names, column.name);
    if (found == background.names.end()) continue;
    const int64_t at = found - background.names.begin(), columns = background.table.columns;
    for (int64_t row = 0; row < background.table.rows; ++row)
      widen(ranges_.back(), background.table.values[row * columns + at]);
  }
}

void RowLayout::find_places() {
  int64_t total = 0;
  for (const ColumnSpec& column : spec_->columns) total += static_cast<int64_t>(column.at.size());
  try {
    all_places_ = source_->columns(source_->column_count().value_or(total));
  } catch (const InvalidInput& error) {
    throw FileError(fmt::format("table.json: {}", error.what()));
  }
  const int64_t numbers = std::ranges::count(all_places_, kNumbersInput, &TableColumn::input);
  std::vector<bool> told(all_places_.size(), false);
  const auto place_at = [&](std::string_view input, int64_t index) -> std::optional<int64_t> {
    for (size_t place = 0; place < all_places_.size(); ++place) {
      if (all_places_[place].input != input || all_places_[place].index != index) continue;
      told[place] = true;
      return static_cast<int64_t>(place);
    }
    return std::nullopt;
  };
  for (const ColumnSpec& column : spec_->columns) {
    column_places_.emplace_back();
    for (const int64_t at : column.at) {
      const std::optional<int64_t> place = place_at(column.input, at);
      if (!place) {
        throw FileError(
            fmt::format("table.json: the column '{}' is at {}[{}], which the model does not have",
                        column.name, column.input, at));
      }
      column_places_.back().push_back(*place);
      if (column.missing.how == MissingCell::How::kNan) all_places_[*place].may_be_missing = true;
    }
    // Numbers first, then categories.
    const int64_t before = column.input == kNumbersInput ? 0 : numbers;
    missing_place_.push_back(column.at.empty() ? std::nullopt
                                               : place_at(kMissingInput, before + column.at[0]));
  }
  for (size_t place = 0; place < told.size(); ++place) {
    if (told[place]) continue;
    throw FileError(fmt::format("table.json: no column is at {}[{}], which the model reads",
                                all_places_[place].input, all_places_[place].index));
  }
}

int64_t RowLayout::count(const RowInput& row) const {
  return static_cast<int64_t>(spec_ ? all_places_.size() : row.values.size());
}

std::vector<TableColumn> RowLayout::places(const RowInput& row) const {
  return spec_ ? all_places_ : source_->columns(count(row));
}

std::vector<double> RowLayout::numbers(const RowInput& row) const {
  if (!spec_) {
    check(row);
    refuse_words(row);
    std::vector<double> values;
    for (const int64_t place : source_->places_of(row.names)) values.push_back(row.values[place]);
    return values;
  }
  check(row);
  return encoded_row(order_in(row.names), cells_of(row.cells, row.values), 0);
}

std::string RowLayout::told(const RowInput& row) const {
  std::vector<std::string> cells = cells_of(row.cells, row.values);
  if (!spec_) return fmt::format("{}", fmt::join(cells, ", "));
  std::vector<std::string> own;
  for (const size_t place : order_in(row.names)) {
    const bool missing = std::ranges::count(spec_->missing_words, cells[place]) > 0;
    own.push_back(missing ? "missing" : cells[place]);
  }
  return fmt::format("{}", fmt::join(own, ", "));
}

PlacedRow RowLayout::placed(const RowInput& row, std::vector<std::string>& notes) const {
  check(row);
  return spec_ ? placed_cells(row, notes) : placed_numbers(row);
}

// Columns in the order in which the model takes them.
PlacedRow RowLayout::placed_numbers(const RowInput& given) const {
  refuse_words(given);
  PlacedRow row{.background = given.background, .weights = given.weights};
  const std::vector<int64_t> places = source_->places_of(given.names);
  const auto count = static_cast<int64_t>(places.size());
  for (int64_t column = 0; column < count; ++column) {
    const double number = given.values[places[column]];
    row.columns.push_back(
        {.name = given.names[places[column]],
         .shown = given.cells.empty() ? fmt::format("{:.6g}", number) : given.cells[places[column]],
         .places = {column},
         .number = number});
    row.values.push_back(number);
    for (int64_t other = 0; other < given.background.rows; ++other) {
      row.background.values[other * count + column] =
          given.background.values[other * count + places[column]];
    }
  }
  return row;
}

PlacedRow RowLayout::placed_cells(const RowInput& given, std::vector<std::string>& notes) const {
  const Order order = order_in(given.names);
  const std::vector<std::string> cells = cells_of(given.cells, given.values);
  PlacedRow row{.named = true, .values = encoded_row(order, cells, 0), .weights = given.weights};
  for (size_t c = 0; c < spec_->columns.size(); ++c) {
    const ColumnSpec& column = spec_->columns[c];
    const std::string& cell = cells[order[c]];
    const double number = given.values[order[c]];
    row.columns.push_back({.name = column.name,
                           .shown = cell,
                           .places = column_places_[c],
                           .category = column.kind == ColumnKind::kCategory,
                           .missing = std::ranges::count(spec_->missing_words, cell) > 0,
                           .number = std::isnan(number) ? std::nullopt : std::optional(number)});
    if (missing_place_[c]) row.columns.back().places.push_back(*missing_place_[c]);
  }
  row.background =
      given.background.rows > 0
          ? encoded_table(given.names, cells_of(given.background_cells, given.background.values),
                          given.background.rows)
          : own_background_;
  note_ignored(given, order, notes);
  note_scaled_numbers(given, order, notes);
  note_unknown_categories(cells_of(given.cells, given.values), order, notes);
  return row;
}

void RowLayout::note_ignored(const RowInput& row, const Order& order,
                             std::vector<std::string>& notes) const {
  std::vector<std::string> ignored;
  for (size_t i = 0; i < row.names.size(); ++i) {
    if (std::ranges::count(order, i) > 0) continue;
    if (row.names[i] == spec_->task.name) {
      notes.push_back(fmt::format("The column {} is what the model predicts: it is not read.",
                                  quoted({row.names[i]})));
    } else {
      ignored.push_back(row.names[i]);
    }
  }
  if (ignored.empty()) return;
  notes.push_back(
      fmt::format("The model does not read {}: ignored.",
                  (ignored.size() == 1 ? "the column " : "the columns ") + quoted(ignored)));
}

void RowLayout::note_unknown_categories(const std::vector<std::string>& cells, const Order& order,
                                        std::vector<std::string>& notes) const {
  for (size_t c = 0; c < order.size(); ++c) {
    const ColumnSpec& column = spec_->columns[c];
    const std::string& cell = cells[order[c]];
    const auto known = about_unknown_category(*spec_, column, cell);
    if (!known) continue;
    notes.push_back(
        fmt::format("{} in the column {} is no known category, and is read as the unknown one; {}.",
                    quoted({cell}), quoted({column.name}), *known));
  }
}

// Scaled twice, every answer would be wrong without a word.
void RowLayout::note_scaled_numbers(const RowInput& row, const Order& order,
                                    std::vector<std::string>& notes) const {
  constexpr double kMostScaled = 6;
  std::vector<std::string> small;
  for (size_t c = 0; c < ranges_.size(); ++c) {
    const double number = row.values[order[c]];
    if (!ranges_[c] || std::isnan(number)) continue;
    if (ranges_[c]->min <= kMostScaled && ranges_[c]->max >= -kMostScaled) continue;
    if (std::abs(number) >= kMostScaled) return;
    small.push_back(fmt::format("'{}' is {:g} ({:g} to {:g})", spec_->columns[c].name.substr(0, 60),
                                number, ranges_[c]->min, ranges_[c]->max));
  }
  if (small.empty()) return;
  notes.push_back(fmt::format(
      "These numbers look as if they were standardised already: {}, in brackets the range of the "
      "model's own rows. The model standardises numbers itself: give them as they were.",
      fmt::join(small, ", ")));
}

std::optional<std::string> RowLayout::answer_in(const RowInput& row) const {
  if (!spec_ || spec_->task.labels.empty()) return std::nullopt;
  const auto found = std::ranges::find(row.names, spec_->task.name);
  if (found == row.names.end()) return std::nullopt;
  const size_t at = found - row.names.begin();
  const std::string cell = row.cells.empty() ? cell_of(row.values[at]) : row.cells[at];
  if (std::ranges::count(spec_->task.labels, cell) == 0) return std::nullopt;
  return cell;
}

RowLayout::Order RowLayout::order_in(const std::vector<std::string>& names) const {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (seen.insert(name).second) continue;
    throw InvalidInput(
        fmt::format("two columns are called '{}': give each a name of its own", name));
  }
  Order order;
  std::vector<std::string> missing;
  for (const ColumnSpec& column : spec_->columns) {
    const auto found = std::ranges::find(names, column.name);
    if (found == names.end()) missing.push_back(column.name);
    order.push_back(static_cast<size_t>(found - names.begin()));
  }
  if (missing.empty()) return order;
  throw InvalidInput(fmt::format("the table lacks {} of the model's {} columns: {}", missing.size(),
                                 spec_->columns.size(), quoted(missing)));
}

std::vector<double> RowLayout::encoded_row(const Order& order,
                                           const std::vector<std::string>& cells,
                                           size_t first) const {
  std::vector<double> values(all_places_.size(), 0.0);
  for (size_t c = 0; c < order.size(); ++c) {
    const EncodedCell cell = encoded(*spec_, spec_->columns[c], cells[first + order[c]]);
    for (size_t i = 0; i < column_places_[c].size(); ++i) {
      values[column_places_[c][i]] = cell.numbers[i];
    }
    if (missing_place_[c]) values[*missing_place_[c]] = cell.missing ? 1 : 0;
  }
  return values;
}

Table RowLayout::encoded_table(const std::vector<std::string>& names,
                               const std::vector<std::string>& cells, int64_t rows) const {
  const Order order = order_in(names);
  Table table{.rows = rows, .columns = static_cast<int64_t>(all_places_.size())};
  for (int64_t row = 0; row < rows; ++row) {
    const std::vector<double> values =
        encoded_row(order, cells, static_cast<size_t>(row) * names.size());
    table.values.insert(table.values.end(), values.begin(), values.end());
  }
  return table;
}

}  // namespace whyformer
