// table.json, the description of a table that stands beside a model's weights: what its columns are
// called and how their cells become the numbers that the model reads (docs/tables.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whyformer {

struct ModelInfo;

// Weights of a table model without a table.json: what they tell, and a table.json to go on from.
struct TableDraft {
  std::shared_ptr<const ModelInfo> info;
  std::string table_json;
};

// `rows` is a CSV file in the model's order of columns, numbers and words, that gives columns their
// names, kinds and words; without one they are called "number 0", "category 0". Throws
// UnsupportedModel for weights of no known family.
TableDraft draft_table(const std::filesystem::path& weights,
                       const std::filesystem::path& rows = {});

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
