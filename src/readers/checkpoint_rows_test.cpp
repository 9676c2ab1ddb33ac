// Rows of models that table packages saved, as parts of an input.
#include <gmock/gmock.h>

#include <algorithm>

#include "readers/row_part.h"
#include "tests/support/golden_table.h"

namespace whyformer {
namespace {

RowPart part_of(const GoldenTable& golden) {
  PlacedRow row;
  const Sample sample = golden.samples(DType::kFloat64)[0];
  for (const ColumnSpec& column : golden.spec.columns) {
    row.columns.push_back(
        {.name = column.name, .places = {static_cast<int64_t>(row.values.size())}});
    row.values.push_back(sample.at(column.input).to_doubles()[column.at[0]]);
  }
  const auto source = golden.source();
  return RowPart(source, source->columns(*source->column_count()), row, {});
}

std::vector<std::string> columns_of(const RowPart& part) {
  std::vector<std::string> columns;
  for (const Unit& unit : part.units()) columns.push_back(unit.special ? "[CLS]" : unit.column);
  return columns;
}

TEST(RowsOfCheckpoints, UnitsAreTheTokensInTheModelsOrder) {
  const RowPart part = part_of(GoldenTable("rtdl-revisiting.mixed"));
  EXPECT_TRUE(part.attends_by_unit());
  EXPECT_THAT(columns_of(part), testing::ElementsAre("[CLS]", "number 0", "number 1", "number 2",
                                                     "category 0", "category 1", "category 2"));
  EXPECT_THAT(part.out_of_reach(), testing::IsEmpty());
}

// Linformer's keys are mixtures of columns.
TEST(RowsOfCheckpoints, MapsOverMixturesOfColumnsAreNoMapsOfColumns) {
  // The last has as many mixtures as tokens.
  for (const std::string name : {"rtdl-revisiting.linformer", "wd-ft.class", "wd-ft.flat"}) {
    const RowPart part = part_of(GoldenTable(name));
    EXPECT_FALSE(part.attends_by_unit()) << name;
    EXPECT_THAT(part.why_no_maps(), testing::HasSubstr("Linformer"));
  }
}

TEST(RowsOfCheckpoints, TheClassTokenIsFoundWhereverItStands) {
  const auto at = [](const std::string& name) {
    const std::vector<std::string> units = columns_of(part_of(GoldenTable(name)));
    return std::find(units.begin(), units.end(), "[CLS]") - units.begin();
  };
  for (const std::string name : {"rtdl-old.mixed", "pt-ft.mixed", "ag-ft.mixed"})
    EXPECT_EQ(at(name), 6) << name;
  for (const std::string name : {"rtdl-paper.mixed", "lucid-ft.mixed", "pyf-ft.mixed", "saint.col"})
    EXPECT_EQ(at(name), 0) << name;
}

// Where each package puts its class token: the token, counted from the end where it is negative.
// Nothing where there is none, or where attention goes over no columns.
std::optional<int64_t> class_token_of(const std::string& name) {
  for (const char* rows_alone : {"saint.row", "lit-saint.row"}) {
    if (name == rows_alone) return std::nullopt;
  }
  for (const char* last : {"rtdl-old", "pt-ft", "ag-ft", "lit-saint"}) {
    if (name.starts_with(last)) return -1;
  }
  for (const char* without : {"lucid-tab", "pt-tab", "pyf-tab"}) {
    if (name.starts_with(without)) return std::nullopt;
  }
  if (name.starts_with("wd-") && !name.ends_with(".class")) return std::nullopt;
  return 0;
}

void expect_read(const RowSource& source, const GoldenTable& golden, int64_t token,
                 const std::string& what) {
  const std::vector<Sample> rows{golden.samples(DType::kFloat32)[0]};
  const auto graph = source.fed(rows, {.head = source.own_head()}).graph;
  const ReadOut& read_out = graph->found.read_out;
  const int64_t tokens = graph->graph.shape(graph->layers_input)[1];
  EXPECT_EQ(read_out.kind, ReadOut::Kind::kRow) << what;
  EXPECT_EQ(read_out.row, token < 0 ? tokens + token : token) << what;
  EXPECT_FALSE(graph->found.sites.empty()) << what;
}

TEST(RowsOfCheckpoints, TheAnswerReadsTheClassTokenInEveryContext) {
  int looked_at = 0;
  for (const std::string& name : golden_tables()) {
    const std::optional<int64_t> token = class_token_of(name);
    if (!token) continue;
    const GoldenTable golden(name);
    const auto source = golden.source();
    expect_read(*source, golden, *token, name);
    ++looked_at;
    if (!source->rows_attend()) continue;
    for (const ContextMode mode : {ContextMode::kFrozen, ContextMode::kLive}) {
      std::vector<Sample> others = golden.samples(DType::kFloat64);
      others.erase(others.begin());
      expect_read(*source->in_context(others, mode), golden, *token, name + " in a context");
    }
  }
  EXPECT_GE(looked_at, 30);
}

// lucidrains and SAINT have categories first.
TEST(RowsOfCheckpoints, ColumnsKeepTheirNamesInEveryOrderOfTokens) {
  for (const std::string name : {"lucid-ft.mixed", "saint.col", "ag-ft.mixed"}) {
    const RowPart part = part_of(GoldenTable(name));
    EXPECT_TRUE(part.attends_by_unit()) << name;
    const std::vector<std::string> units = columns_of(part);
    const auto first = std::find(units.begin(), units.end(), "category 0");
    EXPECT_LT(first, std::find(units.begin(), units.end(), "number 0")) << name;
  }
}

TEST(RowsOfCheckpoints, EveryColumnHasAGradientWhereverItEnters) {
  for (const std::string& name : golden_tables()) {
    const GoldenTable golden(name);
    if (golden.has("x_missing")) continue;  // those places are no numbers
    EXPECT_THAT(part_of(golden).out_of_reach(), testing::IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace whyformer
