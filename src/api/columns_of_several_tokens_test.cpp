// A column that was encoded as several numbers is several tokens of an FT-Transformer, and one
// unit.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/golden_table.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_model.h"
#include "whyformer/error.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

RowInput row_with(const std::vector<std::pair<std::string, std::string>>& cells) {
  RowInput row;
  for (const auto& [name, cell] : cells) {
    row.names.push_back(name);
    row.cells.push_back(cell);
    row.values.push_back(NAN);
  }
  return row;
}

// The same model twice: with "pair" in the first two places of its numbers, and with a column each.
class OneHotColumn : public testing::Test {
 protected:
  OneHotColumn() {
    GoldenTable golden("rtdl-revisiting.mixed");
    golden.save(apart_.path());
    std::vector<ColumnSpec>& columns = golden.spec.columns;
    ColumnSpec pair = columns[0];
    pair.name = "pair";
    pair.kind = ColumnKind::kCategory;
    pair.at = {0, 1};
    pair.categories = {"a", "b"};
    pair.ids = {0, 1};
    pair.steps = {OneHotStep{}};
    columns.erase(columns.begin());
    columns[0] = pair;
    golden.save(together_.path());
  }

  std::vector<std::pair<std::string, std::string>> others_{{"number 2", "0.3"},
                                                           {"category 0", "word 1"},
                                                           {"category 1", "word 0"},
                                                           {"category 2", "word 2"}};

  Explanation of_pair(const std::vector<MethodRequest>& methods) const {
    auto cells = others_;
    cells.insert(cells.begin(), {"pair", "b"});
    return explain(Model::load(together_.path()), row_with(cells),
                   {.methods = methods, .precision = Precision::kDouble})[0];
  }
  Explanation of_numbers(const std::vector<MethodRequest>& methods) const {
    auto cells = others_;
    cells.insert(cells.begin(), {{"number 0", "0"}, {"number 1", "1"}});
    return explain(Model::load(apart_.path()), row_with(cells),
                   {.methods = methods, .precision = Precision::kDouble})[0];
  }

  TemporaryFolder apart_, together_;
};

TEST_F(OneHotColumn, HasTheSumOfItsTokensScoresByEveryMethodOfAttention) {
  const std::vector<MethodRequest> methods{{"raw-attention:gorishniy"},
                                           {"raw-attention:borisov-column"},
                                           {"raw-attention:borisov-diagonal"},
                                           {"raw-attention:pytorch-tabular"},
                                           {"rollout"},
                                           {"gae"},
                                           {"grad-sam"}};
  const Explanation one = of_pair(methods), two = of_numbers(methods);
  EXPECT_EQ(one.output.values, two.output.values);
  ASSERT_EQ(one.attributions.size(), methods.size());
  ASSERT_EQ(one.units.size(), two.units.size() - 1);
  EXPECT_EQ(one.units[1].column, "pair");
  for (size_t m = 0; m < methods.size(); ++m) {
    const std::vector<double>&own = one.attributions[m].scores, &all = two.attributions[m].scores;
    EXPECT_NEAR(own[0], all[0], 1e-12) << methods[m].name;
    EXPECT_NEAR(own[1], all[1] + all[2], 1e-12) << methods[m].name;
    for (size_t unit = 2; unit < own.size(); ++unit)
      EXPECT_NEAR(own[unit], all[unit + 1], 1e-12) << methods[m].name;
    EXPECT_THAT(one.attributions[m].notes,
                testing::Contains(HasSubstr("1 columns are several tokens")));
  }
}

TEST_F(OneHotColumn, HasOneRowAndOneColumnInTheMapsOfReports) {
  const Explanation one = of_pair({{"rollout"}}), two = of_numbers({{"rollout"}});
  ASSERT_EQ(one.attention.size(), two.attention.size());
  const AttentionMap &map = one.attention[0], &tokens = two.attention[0];
  ASSERT_EQ(map.keys, tokens.keys - 1);
  ASSERT_EQ(static_cast<size_t>(map.queries), one.units.size());
  for (int64_t head = 0; head < map.heads; ++head) {
    const auto own = map.head(head), all = tokens.head(head);
    const auto at = [&](int64_t i, int64_t j) { return all[i * tokens.keys + j]; };
    EXPECT_NEAR(own[1], at(0, 1) + at(0, 2), 1e-6);
    EXPECT_NEAR(own[map.keys], (at(1, 0) + at(2, 0)) / 2, 1e-6);
    for (int64_t i = 0; i < map.queries; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < map.keys; ++j) sum += own[i * map.keys + j];
      EXPECT_NEAR(sum, 1, 1e-6);
    }
  }
}

// A trace has a gradient for each entry of the maps, and the sums have none.
TEST_F(OneHotColumn, IsNoRowOfATrace) {
  auto cells = others_;
  cells.insert(cells.begin(), {"pair", "b"});
  const Model model = Model::load(together_.path());
  EXPECT_THAT(onnx::refusal<InvalidInput>([&] { trace(model, row_with(cells), {}); }),
              HasSubstr("several tokens"));
  EXPECT_EQ(attention(model, row_with(cells))[0].keys, 6);
}

}  // namespace
}  // namespace whyformer
