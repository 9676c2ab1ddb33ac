// Tables from CSV and safetensors files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/numpy_random.h"
#include "readers/array_file.h"
#include "readers/csv_rows.h"
#include "readers/table_file.h"
#include "whyformer/error.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

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
  return read_csv(bytes.text(), name, nullptr);
}

NamedTable read_cells(const std::filesystem::path& path) {
  const Bytes bytes = map_file(path);
  return cells_in(bytes, path.filename().string());
}

NamedTable cells_in(const Bytes& file, const std::string& name) {
  return read_words(file.text(), name, nullptr);
}

NamedTable read_table_for(const Model& model, const std::filesystem::path& path) {
  return model.reads_words() ? read_cells(path) : read_table(path);
}

SoundRows read_sound_rows(const Model& model, const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  SoundRows found;
  if (model.reads_words()) {
    found.rows = read_words(map_file(path).text(), name, &found.broken);
  } else if (path.extension() == ".safetensors") {
    found.rows = read_table(path);
  } else {
    found.rows = read_csv(map_file(path).text(), name, &found.broken);
  }
  return found;
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
  const std::vector<std::string> unnamed = numbered_names(names.size());
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
  RowInput input{.names = named.names, .values = {first, first + columns}, .number = row};
  if (!named.cells.empty()) {
    const auto cell = named.cells.begin() + row * columns;
    input.cells.assign(cell, cell + columns);
  }
  return input;
}

void add_block(RowInput& input, const NamedTable& named, int64_t row, int64_t block) {
  const int64_t columns = named.table.columns, first = row / block * block;
  input.in_block = row - first;
  if (input.block && input.block->first == first) return;
  const int64_t rows = std::min(block, named.table.rows - first);
  const auto cut = [&](const auto& all) {
    const auto begin = all.begin() + first * columns;
    return std::vector(begin, begin + rows * columns);
  };
  TableBlock own{.first = first, .table = {.rows = rows, .columns = columns}};
  own.table.values = cut(named.table.values);
  if (!named.cells.empty()) own.cells = cut(named.cells);
  input.block = std::make_shared<const TableBlock>(std::move(own));
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
