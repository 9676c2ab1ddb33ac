// Tables from CSV (RFC 4180) and safetensors files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/numpy_random.h"
#include "readers/array_file.h"
#include "readers/table_file.h"
#include "whyformer/error.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 28;

using CsvCells = std::vector<std::string>;

// One line's cells, from `at` on; moves behind it. Quoted cells may hold commas, quotes and line
// ends.
CsvCells next_line(std::string_view text, size_t& at, const std::string& name, int64_t line,
                   char separator = ',') {
  CsvCells cells(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"')
        cells.back() += c;
      else if (at + 1 < text.size() && text[at + 1] == '"')
        cells.back() += text[at++];
      else
        quoted = false;
    } else if (c == '"' && cells.back().empty()) {
      quoted = true;
    } else if (c == separator) {
      cells.emplace_back();
    } else if (c == '\n' || c == '\r') {
      at += c == '\r' && at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 1;
      break;
    } else {
      cells.back() += c;
    }
  }
  if (quoted) throw FileError(fmt::format("{}, line {}: a quote is not closed", name, line));
  return cells;
}

// Infinite where it is too large for a number.
std::optional<double> number_in(std::string_view cell) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!cell.empty() && blank(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && blank(cell.back())) cell.remove_suffix(1);
  if (!cell.empty() && cell.front() == '+') cell.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (end != cell.data() + cell.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range)
    return std::strtod(std::string(cell).c_str(), nullptr);  // too small is 0
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  return number;
}

bool all_numbers(const CsvCells& cells) {
  for (const std::string& cell : cells) {
    if (!number_in(cell)) return false;
  }
  return true;
}

// A name that two columns have, if any.
const std::string* name_given_twice(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return &name;
  }
  return nullptr;
}

CsvCells names_in(const CsvCells& cells, const std::string& name, int64_t line) {
  if (const std::string* twice = name_given_twice(cells)) {
    throw FileError(fmt::format(
        "{}, line {}: {}; give each column a name of its own, or none to any", name, line,
        twice->empty() ? "two columns have an empty name"
                       : fmt::format("two columns are called '{}'", twice->substr(0, 40))));
  }
  return cells;
}

CsvCells numbered_names(size_t count) {
  CsvCells names;
  for (size_t i = 0; i < count; ++i) names.push_back(fmt::format("column {}", i));
  return names;
}

double number_of(const std::string& cell, const std::string& column, const std::string& place) {
  const std::optional<double> number = number_in(cell);
  if (number && std::isfinite(*number)) return *number;
  if (cell.empty()) {
    throw FileError(
        fmt::format("{}: column '{}' has no value; fill missing values in first", place, column));
  }
  const std::string shown = cell.substr(0, 40);
  if (number) {
    throw FileError(
        fmt::format("{}: {} in column '{}' is too large for a number", place, shown, column));
  }
  if (cell.find_first_of(";\t") != cell.npos) {
    throw FileError(
        fmt::format("{}: '{}' is not a number; separate values by commas, not by semicolons or "
                    "tabs",
                    place, shown));
  }
  throw FileError(fmt::format(
      "{}: '{}' in column '{}' is not a number; give categories as the numbers that the "
      "model takes",
      place, shown, column));
}

NamedTable read_csv(std::string_view text, const std::string& name) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  NamedTable result;
  Table& table = result.table;
  size_t at = 0;
  for (int64_t line = 1; at < text.size(); ++line) {
    const CsvCells cells = next_line(text, at, name, line);
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (table.columns == 0) {
      table.columns = static_cast<int64_t>(cells.size());
      const bool names = !all_numbers(cells);
      result.names = names ? names_in(cells, name, line) : numbered_names(cells.size());
      if (names) continue;
    }
    if (static_cast<int64_t>(cells.size()) != table.columns) {
      const bool other_separator =
          table.columns == 1 && result.names[0].find_first_of(";\t") != std::string::npos;
      throw FileError(fmt::format("{}, line {}: {} cells where the first line has {}{}", name, line,
                                  cells.size(), table.columns,
                                  other_separator ? "; separate values by commas" : ""));
    }
    const std::string place = fmt::format("{}, line {}", name, line);
    for (size_t i = 0; i < cells.size(); ++i)
      table.values.push_back(number_of(cells[i], result.names[i], place));
    ++table.rows;
    if (table.rows * table.columns > kMostCells) throw FileError(name + ": the table is too large");
  }
  if (table.rows == 0) throw FileError(name + ": there are no rows of numbers");
  return result;
}

// The one of the three that the first line has most of, outside of quotes.
char separator_in(std::string_view text) {
  constexpr std::string_view kSeparators = ",;\t";
  std::array<int64_t, kSeparators.size()> counts{};
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '\n' || c == '\r')) break;
    const size_t kind = kSeparators.find(c);
    if (!quoted && kind != kSeparators.npos) ++counts[kind];
  }
  return kSeparators[std::ranges::max_element(counts) - counts.begin()];
}

std::string trimmed(const std::string& cell) {
  const auto blank = " \t";
  const size_t first = cell.find_first_not_of(blank);
  if (first == cell.npos) return "";
  return cell.substr(first, cell.find_last_not_of(blank) - first + 1);
}

void check_line(const CsvCells& cells, const NamedTable& table, const std::string& name,
                int64_t line) {
  if (static_cast<int64_t>(cells.size()) != table.table.columns) {
    throw FileError(fmt::format("{}, line {}: {} cells where the first line has {}", name, line,
                                cells.size(), table.table.columns));
  }
  if ((table.table.rows + 1) * table.table.columns > kMostCells)
    throw FileError(name + ": the table is too large");
}

// Cells lose blanks around them; numbers in them are read, too.
NamedTable read_words(std::string_view text, const std::string& name) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const char separator = separator_in(text);
  NamedTable result;
  size_t at = 0;
  for (int64_t line = 1; at < text.size(); ++line) {
    CsvCells cells = next_line(text, at, name, line, separator);
    if (cells.size() == 1 && cells[0].empty()) continue;
    for (std::string& cell : cells) cell = trimmed(cell);
    if (result.names.empty()) {
      result.names = names_in(cells, name, line);
      result.table.columns = static_cast<int64_t>(cells.size());
      continue;
    }
    check_line(cells, result, name, line);
    for (std::string& cell : cells) {
      const std::optional<double> number = cell.empty() ? std::nullopt : number_in(cell);
      result.table.values.push_back(number.value_or(std::numeric_limits<double>::quiet_NaN()));
      result.cells.push_back(std::move(cell));
    }
    ++result.table.rows;
  }
  if (result.table.rows == 0) {
    throw FileError(name +
                    ": there are no rows; the first line has the names of the columns, then there "
                    "is a line for each row");
  }
  return result;
}

NamedTable side_by_side(const NamedArrays& arrays, const std::string& name) {
  NamedTable result;
  std::vector<std::vector<double>> parts;
  for (const auto& [input, array] : arrays) {
    if (array.rank() != 2 || array.dim(0) < 1 || array.dim(1) < 1 ||
        array.dim(1) > kMostCells / array.dim(0) ||
        (!parts.empty() && array.dim(0) != result.table.rows)) {
      throw FileError(fmt::format(
          "{}: '{}' is no array [rows, columns] with as many rows as the others", name, input));
    }
    for (const double number : array.to_doubles()) {
      if (!std::isfinite(number))
        throw FileError(fmt::format("{}: '{}' holds a number that is not finite", name, input));
    }
    result.table.rows = array.dim(0);
    parts.push_back(array.to_doubles());
    for (int64_t i = 0; i < array.dim(1); ++i)
      result.names.push_back(fmt::format("{}.{}", input, i));
  }
  result.table.columns = static_cast<int64_t>(result.names.size());
  if (result.table.rows == 0) throw FileError(name + ": there are no rows of numbers");
  for (int64_t row = 0; row < result.table.rows; ++row) {
    for (const std::vector<double>& part : parts) {
      const auto width = static_cast<int64_t>(part.size()) / result.table.rows;
      result.table.values.insert(result.table.values.end(), part.begin() + row * width,
                                 part.begin() + (row + 1) * width);
    }
  }
  return result;
}

}  // namespace

NamedTable read_table(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (path.extension() == ".safetensors") return side_by_side(read_arrays(path), name);
  const Bytes bytes = map_file(path);
  return read_csv(bytes.text(), name);
}

NamedTable read_cells(const std::filesystem::path& path) {
  const Bytes bytes = map_file(path);
  return cells_in(bytes, path.filename().string());
}

NamedTable cells_in(const Bytes& file, const std::string& name) {
  return read_words(file.text(), name);
}

NamedTable read_table_for(const Model& model, const std::filesystem::path& path) {
  return model.reads_words() ? read_cells(path) : read_table(path);
}

NamedTable in_order_of(const std::vector<std::string>& names, const NamedTable& table) {
  if (table.names.size() != names.size()) {
    throw InvalidInput(fmt::format("the background has {} columns, but the table has {}",
                                   table.names.size(), names.size()));
  }
  for (const std::vector<std::string>* all : {&names, &table.names}) {
    if (const std::string* twice = name_given_twice(*all)) {
      throw InvalidInput(
          fmt::format("two columns of the {} are called '{}': which of them is meant is not known",
                      all == &names ? "table" : "background", *twice));
    }
  }
  const CsvCells unnamed = numbered_names(names.size());
  if (table.names == names || table.names == unnamed || names == unnamed) return table;
  NamedTable ordered{
      names,
      {.rows = table.table.rows, .columns = table.table.columns, .values = table.table.values},
      table.cells};
  for (size_t column = 0; column < names.size(); ++column) {
    const auto found = std::find(table.names.begin(), table.names.end(), names[column]);
    if (found == table.names.end()) {
      throw InvalidInput(
          fmt::format("the background has no column '{}', which the table has", names[column]));
    }
    const int64_t from = found - table.names.begin();
    for (int64_t row = 0; row < table.table.rows; ++row) {
      const int64_t to = row * table.table.columns + static_cast<int64_t>(column);
      ordered.table.values[to] = table.table.values[row * table.table.columns + from];
      if (!table.cells.empty()) ordered.cells[to] = table.cells[row * table.table.columns + from];
    }
  }
  return ordered;
}

namespace {

int64_t column_named(const NamedTable& table, const std::string& name) {
  const auto found = std::find(table.names.begin(), table.names.end(), name);
  if (found == table.names.end()) {
    std::string known;
    for (const std::string& other : table.names) known += (known.empty() ? "" : ", ") + other;
    throw InvalidInput(fmt::format("the table has no column '{}'; it has {}", name, known));
  }
  return found - table.names.begin();
}

template <class T>
std::vector<T> take_from(std::vector<T>& all, int64_t columns, int64_t column) {
  std::vector<T> taken, rest;
  for (size_t i = 0; i < all.size(); ++i) {
    (static_cast<int64_t>(i) % columns == column ? taken : rest).push_back(std::move(all[i]));
  }
  all = std::move(rest);
  return taken;
}

}  // namespace

std::vector<double> take_column(NamedTable& table, const std::string& name) {
  const int64_t column = column_named(table, name);
  take_from(table.cells, table.table.columns, column);
  std::vector<double> taken = take_from(table.table.values, table.table.columns, column);
  table.names.erase(table.names.begin() + column);
  --table.table.columns;
  return taken;
}

std::vector<std::string> take_cells(NamedTable& table, const std::string& name) {
  const int64_t column = column_named(table, name);
  std::vector<std::string> cells = take_from(table.cells, table.table.columns, column);
  const bool numbers_alone = cells.empty();
  const std::vector<double> numbers = take_from(table.table.values, table.table.columns, column);
  for (size_t row = 0; row < numbers.size() && numbers_alone; ++row) {
    cells.push_back(fmt::format("{}", numbers[row]));
  }
  table.names.erase(table.names.begin() + column);
  --table.table.columns;
  return cells;
}

void check_table(const NamedTable& named) {
  const Table& table = named.table;
  const auto names = static_cast<int64_t>(named.names.size());
  const auto numbers = static_cast<int64_t>(table.values.size());
  if (table.columns <= 0 || names != table.columns || numbers != table.rows * table.columns ||
      (!named.cells.empty() && static_cast<int64_t>(named.cells.size()) != numbers)) {
    throw InvalidInput(fmt::format("a table of {} rows and {} columns has {} names and {} numbers",
                                   table.rows, table.columns, names, numbers));
  }
}

RowInput row_of(const NamedTable& named, int64_t row) {
  const int64_t columns = named.table.columns;
  const auto first = named.table.values.begin() + row * columns;
  RowInput input{named.names, {first, first + columns}};
  if (!named.cells.empty()) {
    const auto cell = named.cells.begin() + row * columns;
    input.cells.assign(cell, cell + columns);
  }
  return input;
}

std::vector<InputValue> rows_of(const NamedTable& named) {
  check_table(named);
  std::vector<InputValue> rows;
  for (int64_t row = 0; row < named.table.rows; ++row) rows.push_back(row_of(named, row));
  return rows;
}

namespace {

// Which rows, in the order in which they are drawn.
std::vector<int64_t> drawn_rows(int64_t rows, int64_t most) {
  std::vector<int64_t> order = NumpyRandom(0).permutation(rows);
  order.resize(most);
  return order;
}

}  // namespace

Table background_of(const Table& table, int64_t most_rows) {
  if (table.rows <= most_rows) return table;
  Table chosen{.rows = most_rows, .columns = table.columns};
  for (const int64_t row : drawn_rows(table.rows, most_rows)) {
    const auto first = table.values.begin() + row * table.columns;
    chosen.values.insert(chosen.values.end(), first, first + table.columns);
  }
  return chosen;
}

NamedTable background_of(const NamedTable& table, int64_t most_rows) {
  NamedTable chosen{table.names, background_of(table.table, most_rows), table.cells};
  if (table.table.rows <= most_rows || table.cells.empty()) return chosen;
  chosen.cells.clear();
  for (const int64_t row : drawn_rows(table.table.rows, most_rows)) {
    const auto first = table.cells.begin() + row * table.table.columns;
    chosen.cells.insert(chosen.cells.end(), first, first + table.table.columns);
  }
  return chosen;
}

}  // namespace whyformer
