// Tables of numbers from CSV (RFC 4180) and safetensors files.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/numpy_random.h"
#include "readers/array_file.h"
#include "whyformer/error.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 28;

using CsvCells = std::vector<std::string>;

// One line's cells, from `at` on; moves behind it. Quoted cells may hold commas, quotes and line
// ends.
CsvCells next_line(std::string_view text, size_t& at, const std::string& name, int64_t line) {
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
    } else if (c == ',') {
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
      {.rows = table.table.rows, .columns = table.table.columns, .values = table.table.values}};
  for (size_t column = 0; column < names.size(); ++column) {
    const auto found = std::find(table.names.begin(), table.names.end(), names[column]);
    if (found == table.names.end()) {
      throw InvalidInput(
          fmt::format("the background has no column '{}', which the table has", names[column]));
    }
    const int64_t from = found - table.names.begin();
    for (int64_t row = 0; row < table.table.rows; ++row) {
      ordered.table.values[row * table.table.columns + static_cast<int64_t>(column)] =
          table.table.values[row * table.table.columns + from];
    }
  }
  return ordered;
}

std::vector<double> take_column(NamedTable& table, const std::string& name) {
  const auto found = std::find(table.names.begin(), table.names.end(), name);
  if (found == table.names.end()) {
    std::string known;
    for (const std::string& other : table.names) known += (known.empty() ? "" : ", ") + other;
    throw InvalidInput(fmt::format("the table has no column '{}'; it has {}", name, known));
  }
  const int64_t column = found - table.names.begin();
  std::vector<double> taken, rest;
  for (size_t i = 0; i < table.table.values.size(); ++i) {
    (static_cast<int64_t>(i) % table.table.columns == column ? taken : rest)
        .push_back(table.table.values[i]);
  }
  table.names.erase(found);
  table.table.values = std::move(rest);
  --table.table.columns;
  return taken;
}

void check_table(const NamedTable& named) {
  const Table& table = named.table;
  const auto names = static_cast<int64_t>(named.names.size());
  const auto numbers = static_cast<int64_t>(table.values.size());
  if (table.columns <= 0 || names != table.columns || numbers != table.rows * table.columns) {
    throw InvalidInput(fmt::format("a table of {} rows and {} columns has {} names and {} numbers",
                                   table.rows, table.columns, names, numbers));
  }
}

std::vector<InputValue> rows_of(const NamedTable& named) {
  check_table(named);
  const Table& table = named.table;
  std::vector<InputValue> rows;
  for (int64_t row = 0; row < table.rows; ++row) {
    const auto first = table.values.begin() + row * table.columns;
    rows.push_back(RowInput{named.names, {first, first + table.columns}});
  }
  return rows;
}

Table background_of(const Table& table, int64_t most_rows) {
  if (table.rows <= most_rows) return table;
  std::vector<int64_t> order = NumpyRandom(0).permutation(table.rows);
  Table chosen{.rows = most_rows, .columns = table.columns};
  for (int64_t i = 0; i < most_rows; ++i) {
    const auto first = table.values.begin() + order[i] * table.columns;
    chosen.values.insert(chosen.values.end(), first, first + table.columns);
  }
  return chosen;
}

}  // namespace whyformer
