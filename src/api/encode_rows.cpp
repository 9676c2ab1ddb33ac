#include <fmt/format.h>

#include <algorithm>

#include "formats/file_checks.h"
#include "formats/tables/table_spec.h"
#include "whyformer/error.h"
#include "whyformer/table_spec.h"

namespace whyformer {
namespace {

// Where each column of the description stands in the table.
std::vector<size_t> places_in(const std::vector<std::string>& names, const TableSpec& spec) {
  std::vector<size_t> places;
  std::string absent;
  for (const ColumnSpec& column : spec.columns) {
    const auto found = std::ranges::find(names, column.name);
    if (found == names.end())
      absent += (absent.empty() ? "" : ", ") + in_quotes(column.name);
    else
      places.push_back(found - names.begin());
  }
  if (!absent.empty()) throw InvalidInput(fmt::format("the table has no column {}", absent));
  return places;
}

// The inputs in the order in which columns name them, with room for the rows.
std::vector<EncodedInput> inputs_of(const TableSpec& spec, size_t rows) {
  std::vector<EncodedInput> inputs;
  for (const ColumnSpec& column : spec.columns) {
    auto found = std::ranges::find(inputs, column.input, &EncodedInput::name);
    if (found == inputs.end()) found = inputs.insert(inputs.end(), {column.input, 0, {}});
    found->columns += static_cast<int64_t>(column.at.size());
  }
  for (EncodedInput& input : inputs) input.numbers.resize(rows * input.columns);
  return inputs;
}

}  // namespace

std::vector<EncodedInput> encode_rows(std::string_view table_json,
                                      const std::vector<std::string>& names,
                                      const std::vector<std::vector<std::string>>& rows) {
  const TableSpec spec = parse_table_spec(bytes_of(std::string(table_json)), "table.json");
  const std::vector<size_t> places = places_in(names, spec);
  std::vector<EncodedInput> inputs = inputs_of(spec, rows.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].size() != names.size()) {
      throw InvalidInput(
          fmt::format("row {} has {} cells, not {}", row, rows[row].size(), names.size()));
    }
    for (size_t i = 0; i < spec.columns.size(); ++i) {
      const ColumnSpec& column = spec.columns[i];
      EncodedInput& input = *std::ranges::find(inputs, column.input, &EncodedInput::name);
      EncodedCell cell;
      try {
        cell = encoded(spec, column, rows[row][places[i]]);
      } catch (const InvalidInput& error) {
        throw InvalidInput(fmt::format("row {}, {}", row, error.what()));
      }
      for (size_t place = 0; place < column.at.size(); ++place)
        input.numbers[row * input.columns + column.at[place]] = cell.numbers[place];
    }
  }
  return inputs;
}

}  // namespace whyformer
