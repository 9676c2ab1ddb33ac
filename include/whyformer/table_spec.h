// table.json, the description of a table that stands beside a model's weights: what its columns are
// called and how their cells become the numbers that the model reads (docs/tables.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whyformer {

// Numbers of one input of a model: [rows × columns], one row after the other.
struct EncodedInput {
  std::string name;
  int64_t columns = 0;
  std::vector<double> numbers;
};

// What the cells of rows become, by the text of a table.json. `names` are the table's columns in
// any order; those that the description does not know are left out. Throws FileError or
// UnsupportedModel for the description, InvalidInput for a column that is missing or a cell that
// does not fit, with the number of its row.
std::vector<EncodedInput> encode_rows(std::string_view table_json,
                                      const std::vector<std::string>& names,
                                      const std::vector<std::vector<std::string>>& rows);

}  // namespace whyformer
