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

TEST(RowsOfCheckpoints, TheAnswerReadsTheClassToken) {
  for (const std::string name :
       {"rtdl-revisiting.mixed", "rtdl-old.mixed", "rtdl-paper.mixed", "lucid-ft.mixed",
        "saint.col", "pt-ft.mixed", "pyf-ft.mixed", "ag-ft.mixed", "wd-ft.class"}) {
    const GoldenTable golden(name);
    const auto source = golden.source();
    const std::vector<Sample> rows{golden.samples(DType::kFloat32)[0]};
    const auto graph = source->fed(rows, {.head = source->own_head()}).graph;
    const ReadOut& read_out = graph->found.read_out;
    const bool last =
        name.starts_with("rtdl-old") || name.starts_with("pt-") || name.starts_with("ag");
    EXPECT_EQ(read_out.kind, ReadOut::Kind::kRow) << name;
    EXPECT_EQ(read_out.row, last ? graph->graph.shape(graph->layers_input)[1] - 1 : 0) << name;
  }
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
