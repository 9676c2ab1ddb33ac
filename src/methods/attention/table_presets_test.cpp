// Presets of raw-attention against what the packages' own code computes
// (scripts/golden/table_presets_golden.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_folder.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

std::filesystem::path presets_folder() { return source_folder() / "tests/golden/tables/presets"; }

std::vector<std::string> cases_of_presets() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(presets_folder()))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

class TablePresets : public testing::TestWithParam<std::string> {};

TEST_P(TablePresets, GiveThePackagesOwnNumbers) {
  const std::filesystem::path folder = presets_folder() / GetParam();
  std::ifstream file(folder / "presets.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  const Model model = Model::load(folder);
  const NamedTable rows = read_cells(folder / "rows.csv");
  ASSERT_FALSE(expected.empty());
  for (const auto& [preset, numbers] : expected.items()) {
    ASSERT_EQ(static_cast<int64_t>(numbers.size()), rows.table.rows);
    for (int64_t row = 0; row < rows.table.rows; ++row) {
      const ExplainRequest request{.methods = {{"raw-attention:" + preset, {}}},
                                   .precision = Precision::kDouble};
      const Explanation found = explain(model, row_of(rows, row), request)[0];
      ASSERT_EQ(found.attributions.size(), 1u) << preset;
      const auto packages = numbers[row].get<std::vector<double>>();
      size_t token = 0;
      for (size_t unit = 0; unit < found.units.size() && token < packages.size(); ++unit) {
        if (found.units[unit].special) continue;
        EXPECT_NEAR(found.attributions[0].scores[unit], packages[token++], 1e-6)
            << preset << " row " << row << " " << found.units[unit].column;
      }
      EXPECT_EQ(token, packages.size()) << preset;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Packages, TablePresets, testing::ValuesIn(cases_of_presets()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace whyformer
