// Tables of numbers from CSV (RFC 4180) and safetensors files.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/bytes.h"
#include "explain/array_file.h"
#include "whyformer/error.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 28;

using Cells = std::vector<std::string>;

// One line's cells, from `at` on; moves behind it. Quoted cells may hold commas, quotes and line ends.
Cells next_line(std::string_view text, size_t& at, const std::string& name, int64_t line) {
  Cells cells(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') cells.back() += c;
      else if (at + 1 < text.size() && text[at + 1] == '"') cells.back() += text[at++];
      else quoted = false;
    } else if (c == '"' && cells.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      cells.emplace_back();
    } else if (c == '\n') {
      ++at;
      break;
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  if (quoted) throw FileError(fmt::format("{}, line {}: a quote is not closed", name, line));
  return cells;
}

std::optional<double> number_in(std::string_view cell) {
  while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
  while (!cell.empty() && cell.back() == ' ') cell.remove_suffix(1);
  if (!cell.empty() && cell.front() == '+') cell.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

bool all_numbers(const Cells& cells) {
  for (const std::string& cell : cells) {
    if (!number_in(cell)) return false;
  }
  return true;
}

NamedTable read_csv(std::string_view text, const std::string& name) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  NamedTable result;
  Table& table = result.table;
  size_t at = 0;
  for (int64_t line = 1; at < text.size(); ++line) {
    const Cells cells = next_line(text, at, name, line);
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (table.columns == 0) {
      table.columns = static_cast<int64_t>(cells.size());
      const bool names = !all_numbers(cells);
      for (size_t i = 0; i < cells.size(); ++i) {
        result.names.push_back(names ? cells[i] : fmt::format("column {}", i));
      }
      if (names) continue;
    }
    if (static_cast<int64_t>(cells.size()) != table.columns) {
      throw FileError(fmt::format("{}, line {}: {} cells where the first line has {}", name, line, cells.size(),
                                  table.columns));
    }
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::optional<double> number = number_in(cells[i]);
      if (!number) {
        throw FileError(fmt::format("{}, line {}: '{}' in column '{}' is not a number; give categories as the numbers "
                                    "that the model takes",
                                    name, line, cells[i].substr(0, 40), result.names[i]));
      }
      table.values.push_back(*number);
    }
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
    if (array.rank() != 2 || (!parts.empty() && array.dim(0) != result.table.rows)) {
      throw FileError(fmt::format("{}: '{}' is no array [rows, columns] with as many rows as the others", name, input));
    }
    result.table.rows = array.dim(0);
    parts.push_back(array.to_doubles());
    for (int64_t i = 0; i < array.dim(1); ++i) result.names.push_back(fmt::format("{}.{}", input, i));
  }
  result.table.columns = static_cast<int64_t>(result.names.size());
  if (result.table.rows == 0) throw FileError(name + ": there are no rows of numbers");
  for (int64_t row = 0; row < result.table.rows; ++row) {
    for (const std::vector<double>& part : parts) {
      const auto width = static_cast<int64_t>(part.size()) / result.table.rows;
      result.table.values.insert(result.table.values.end(), part.begin() + row * width, part.begin() + (row + 1) * width);
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
    (static_cast<int64_t>(i) % table.table.columns == column ? taken : rest).push_back(table.table.values[i]);
  }
  table.names.erase(found);
  table.table.values = std::move(rest);
  --table.table.columns;
  return taken;
}

}  // namespace whyformer
