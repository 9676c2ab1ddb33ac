#include "readers/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "whyformer/error.h"

namespace whyformer {
namespace {

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

CsvCells names_in(const CsvCells& cells, const std::string& name, int64_t line) {
  if (const std::string* twice = name_given_twice(cells)) {
    throw FileError(fmt::format(
        "{}, line {}: {}; give each column a name of its own, or none to any", name, line,
        twice->empty() ? "two columns have an empty name"
                       : fmt::format("two columns are called '{}'", twice->substr(0, 40))));
  }
  return cells;
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

std::vector<double> numbers_in(const CsvCells& cells, const NamedTable& table,
                               const std::string& place) {
  if (static_cast<int64_t>(cells.size()) != table.table.columns) {
    const bool other_separator =
        table.table.columns == 1 && table.names[0].find_first_of(";\t") != std::string::npos;
    throw FileError(fmt::format("{}: {} cells where the first line has {}{}", place, cells.size(),
                                table.table.columns,
                                other_separator ? "; separate values by commas" : ""));
  }
  std::vector<double> values;
  for (size_t i = 0; i < cells.size(); ++i) {
    values.push_back(number_of(cells[i], table.names[i], place));
  }
  return values;
}

// Throws FileError where the row cannot be read, or tells it where somebody listens.
class RowProblems {
 public:
  explicit RowProblems(std::vector<BrokenRow>* broken) : broken_(broken) {}

  // False where the row is to be left out.
  template <class Read>
  bool read(const Read& row) {
    const int64_t number = next_++;
    if (broken_ == nullptr) {
      row();
      return true;
    }
    try {
      row();
      return true;
    } catch (const FileError& error) {
      broken_->push_back({number, error.what()});
      return false;
    }
  }
  // Where no row is sound the first problem is the file's.
  void require_some(const Table& table) const {
    if (table.rows == 0 && broken_ != nullptr && !broken_->empty()) {
      throw FileError((*broken_)[0].problem);
    }
  }

 private:
  std::vector<BrokenRow>* broken_;
  int64_t next_ = 0;
};

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
}

}  // namespace

// A name that two columns have, if any.
const std::string* name_given_twice(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return &name;
  }
  return nullptr;
}

std::vector<std::string> numbered_names(size_t count) {
  CsvCells names;
  for (size_t i = 0; i < count; ++i) names.push_back(fmt::format("column {}", i));
  return names;
}

namespace {

std::string_view without_byte_order_mark(std::string_view text, const std::string& name) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw FileError(name + ": the file is UTF-16; save it as UTF-8");
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

}  // namespace

NamedTable read_csv(std::string_view text, const std::string& name,
                    std::vector<BrokenRow>* broken) {
  text = without_byte_order_mark(text, name);
  NamedTable result;
  Table& table = result.table;
  RowProblems problems(broken);
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
    const std::string place = fmt::format("{}, line {}", name, line);
    std::vector<double> values;
    const bool sound = problems.read([&] { values = numbers_in(cells, result, place); });
    if (!sound) continue;
    table.values.insert(table.values.end(), values.begin(), values.end());
    ++table.rows;
    if (table.rows * table.columns > kMostCells) throw FileError(name + ": the table is too large");
  }
  problems.require_some(table);
  if (table.rows == 0) throw FileError(name + ": there are no rows of numbers");
  return result;
}

// Cells lose blanks around them; numbers in them are read, too.
NamedTable read_words(std::string_view text, const std::string& name,
                      std::vector<BrokenRow>* broken) {
  text = without_byte_order_mark(text, name);
  const char separator = separator_in(text);
  NamedTable result;
  RowProblems problems(broken);
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
    if (!problems.read([&] { check_line(cells, result, name, line); })) continue;
    for (std::string& cell : cells) {
      const std::optional<double> number = cell.empty() ? std::nullopt : number_in(cell);
      result.table.values.push_back(number.value_or(std::numeric_limits<double>::quiet_NaN()));
      result.cells.push_back(std::move(cell));
    }
    ++result.table.rows;
    if (result.table.rows * result.table.columns > kMostCells)
      throw FileError(name + ": the table is too large");
  }
  problems.require_some(result.table);
  if (result.table.rows == 0) {
    throw FileError(name +
                    ": there are no rows; the first line has the names of the columns, then there "
                    "is a line for each row");
  }
  return result;
}

}  // namespace whyformer
