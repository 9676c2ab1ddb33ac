#include "formats/tables/table_spec.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/golden_weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

constexpr std::string_view kAdult = R"({"schema": "whyformer.table/1",
 "model": {"family": "rtdl-revisiting", "weights": "model.safetensors", "heads": 4,
           "activation": "reglu", "options": {"dropout": 0.1, "sizes": [3, 4], "name": "x"}},
 "task": {"kind": "binary", "name": "income", "labels": ["<=50K", ">50K"], "output": "one-logit"},
 "columns": [
  {"name": "age", "kind": "number", "input": "x_cont", "at": [0], "unit": "years",
   "missing": {"how": "value", "value": 37.0},
   "steps": [{"op": "quantile", "to": "uniform", "quantiles": [17, 27, 37, 90],
              "references": [0, 0.25, 0.75, 1]}]},
  {"name": "workclass", "kind": "category", "input": "x_cat", "at": [0],
   "categories": ["?", "Federal-gov", "State-gov"], "ids": [0, 1, 2],
   "missing": {"how": "id", "id": 0}, "unknown": {"how": "refuse"}},
  {"name": "sex", "kind": "category", "input": "x_cont", "at": [3, 1],
   "categories": ["Female", "Male"], "steps": [{"op": "one-hot"}]},
  {"name": "hours", "kind": "number", "input": "x_cont", "at": [2, 4],
   "missing": {"how": "value", "value": 40},
   "steps": [{"op": "standard", "mean": 40, "scale": 10}, {"op": "indicator"}]}],
 "missing_words": ["", "NA", "?"],
 "context": {"rows": "context.csv", "block": 64, "mode": "frozen"},
 "background": {"rows": "background.csv"},
 "probe": {"rows": [["39", "State-gov", "Male", 40]], "outputs": [[-1.234]]},
 "written by": "somebody"})";

TableSpec parsed(std::string_view text) {
  return parse_table_spec(bytes_of(std::string(text)), "table.json");
}

std::vector<double> numbers(const TableSpec& spec, size_t column, std::string_view cell) {
  return encoded(spec, spec.columns[column], cell).numbers;
}

// The file with one column, without what surrounds it.
std::string with_column(std::string_view column) {
  return fmt::format(R"({{"schema": "whyformer.table/1", "task": {{"kind": "regression"}},
                         "columns": [{}]}})",
                     column);
}

TEST(TableSpec, HasWhatTheFileTells) {
  const TableSpec spec = parsed(kAdult);
  EXPECT_EQ(spec.model.family, "rtdl-revisiting");
  EXPECT_EQ(spec.model.heads, 4);
  EXPECT_EQ(spec.model.numbers.at("sizes"), (std::vector<double>{3, 4}));
  EXPECT_EQ(spec.model.numbers.count("name"), 0u);
  EXPECT_EQ(spec.task.kind, TaskSpec::Kind::kBinary);
  EXPECT_EQ(spec.task.output, TaskSpec::Output::kOneLogit);
  EXPECT_EQ(spec.task.labels[1], ">50K");
  ASSERT_EQ(spec.columns.size(), 4u);
  EXPECT_EQ(spec.columns[0].unit, "years");
  EXPECT_EQ(spec.columns[1].id_count(), 3);
  EXPECT_EQ(spec.columns[2].at, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(spec.context->block, 64);
  EXPECT_EQ(spec.background, "background.csv");
  EXPECT_EQ(spec.probe.rows[0][3], "40");
  EXPECT_EQ(spec.probe.outputs[0][0], -1.234);
}

TEST(TableSpec, IsTheSameAfterWritingAndReading) {
  const std::string once = to_json(parsed(kAdult));
  EXPECT_EQ(to_json(parsed(once)), once);
  const TableSpec spec = parsed(once);
  EXPECT_EQ(spec.columns[2].at, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(numbers(spec, 0, "32"), numbers(parsed(kAdult), 0, "32"));
  EXPECT_EQ(spec.context->mode, ContextMode::kFrozen);
  EXPECT_FALSE(spec.context->rows.has_value());
  EXPECT_EQ(spec.missing_words, (std::vector<std::string>{"", "NA", "?"}));
}

TEST(TableSpec, EveryStepIsTheSameAfterWritingAndReading) {
  constexpr std::string_view kSteps[] = {
      R"({"op": "standard", "mean": 0.1, "scale": 3})",
      R"({"op": "affine", "times": 0.3, "plus": -1e-300})",
      R"({"op": "min-max", "min": -0.5, "scale": 0.1, "clip": true, "least": -1, "most": 2})",
      R"({"op": "robust", "center": 5, "scale": 0.7})",
      R"({"op": "quantile", "to": "normal", "quantiles": [0, 0.1, 9], "references": [0, 0.5, 1]})",
      R"({"op": "power", "kind": "yeo-johnson", "lambda": 0.3, "mean": 2, "scale": 5})",
      R"({"op": "power", "kind": "box-cox", "lambda": -0.3})",
      R"({"op": "log1p"})",
      R"({"op": "clip", "least": 0.2})",
      R"({"op": "bins", "edges": [0, 1, 2.5, 9]})",
      R"({"op": "batch-norm", "mean": 1, "variance": 2, "epsilon": 1e-3, "weight": 4, "bias": 5})"};
  for (const std::string_view step : kSteps) {
    const std::string column =
        fmt::format(R"({{"name": "x", "kind": "number", "at": [0], "steps": [{}]}})", step);
    const TableSpec spec = parsed(with_column(column));
    const TableSpec again = parsed(to_json(spec));
    for (const std::string_view cell : {"0.05", "1", "2.75", "123"})
      EXPECT_EQ(numbers(spec, 0, cell), numbers(again, 0, cell)) << step;
  }
}

TEST(TableSpec, NumbersGoThroughTheSteps) {
  const TableSpec spec = parsed(kAdult);
  EXPECT_EQ(numbers(spec, 0, "32"), (std::vector<double>{0.5}));
  EXPECT_EQ(numbers(spec, 0, " 32 "), (std::vector<double>{0.5}));
  EXPECT_EQ(numbers(spec, 0, "3.2e1"), (std::vector<double>{0.5}));
  EXPECT_EQ(numbers(spec, 0, "+100"), (std::vector<double>{1}));
}

TEST(TableSpec, AMissingNumberIsImputedBeforeTheSteps) {
  const TableSpec spec = parsed(kAdult);
  EXPECT_EQ(numbers(spec, 0, "NA"), (std::vector<double>{0.75}));
  EXPECT_EQ(numbers(spec, 3, "60"), (std::vector<double>{2, 0}));
  EXPECT_EQ(numbers(spec, 3, " "), (std::vector<double>{0, 1}));
}

TEST(TableSpec, AWordThatIsACategoryIsNotMissing) {
  const TableSpec spec = parsed(kAdult);
  EXPECT_EQ(numbers(spec, 1, "?"), (std::vector<double>{0}));
  EXPECT_EQ(numbers(spec, 1, ""), (std::vector<double>{0}));
  EXPECT_EQ(numbers(spec, 1, " State-gov"), (std::vector<double>{2}));
}

TEST(TableSpec, OneHotWritesToThePlaceOfTheCategory) {
  const TableSpec spec = parsed(kAdult);
  EXPECT_EQ(numbers(spec, 2, "Female"), (std::vector<double>{1, 0}));
  EXPECT_EQ(numbers(spec, 2, "Male"), (std::vector<double>{0, 1}));
}

TEST(TableSpec, ADroppedCategoryHasNoPlace) {
  const TableSpec spec = parsed(with_column(
      R"({"name": "x", "kind": "category", "at": [0, 1], "unknown": {"how": "id", "id": 2},
          "steps": [{"op": "one-hot", "categories": ["a", "b", "c"], "drop": ["b"]}]})"));
  for (const TableSpec& each : {spec, parsed(to_json(spec))}) {
    EXPECT_EQ(numbers(each, 0, "a"), (std::vector<double>{1, 0}));
    EXPECT_EQ(numbers(each, 0, "b"), (std::vector<double>{0, 0}));
    EXPECT_EQ(numbers(each, 0, "c"), (std::vector<double>{0, 1}));
    EXPECT_EQ(numbers(each, 0, "d"), (std::vector<double>{0, 0}));
  }
}

TEST(TableSpec, ScaledOneHotAndIndicatorHaveTheirNumbers) {
  const TableSpec spec = parsed(with_column(
      R"({"name": "x", "kind": "number", "at": [0, 1, 2], "missing": {"how": "value", "value": 9},
          "steps": [{"op": "bins", "edges": [0, 5, 10]},
                    {"op": "one-hot", "off": [-1, -2], "on": [3, 4]},
                    {"op": "indicator", "off": -0.5, "on": 7}]})"));
  EXPECT_EQ(numbers(spec, 0, "4.9"), (std::vector<double>{3, -2, -0.5}));
  EXPECT_EQ(numbers(spec, 0, "5"), (std::vector<double>{-1, 4, -0.5}));
  EXPECT_EQ(numbers(spec, 0, ""), (std::vector<double>{-1, 4, 7}));
  EXPECT_EQ(to_json(parsed(to_json(spec))), to_json(spec));
}

TEST(TableSpec, CategoriesMayBecomeNumbers) {
  const TableSpec spec = parsed(with_column(
      R"({"name": "x", "kind": "category", "at": [0], "categories": ["a", "3"],
          "values": [0.25, -4], "missing": {"how": "nan"}, "unknown": {"how": "value", "value": 2},
          "steps": [{"op": "affine", "times": 2, "plus": 1}]})"));
  for (const TableSpec& each : {spec, parsed(to_json(spec))}) {
    EXPECT_EQ(numbers(each, 0, "a"), (std::vector<double>{1.5}));
    EXPECT_EQ(numbers(each, 0, "3.0"), (std::vector<double>{-7}));
    EXPECT_EQ(numbers(each, 0, "new"), (std::vector<double>{5}));
    EXPECT_TRUE(std::isnan(numbers(each, 0, "NaN")[0]));
  }
}

TEST(TableSpec, AMissingCellMayBeFilledInBetweenTheSteps) {
  const TableSpec spec = parsed(with_column(
      R"({"name": "x", "kind": "number", "at": [0], "missing": {"how": "nan"},
          "steps": [{"op": "affine", "plus": 1}, {"op": "fill", "value": 5},
                    {"op": "affine", "times": 2}]})"));
  for (const TableSpec& each : {spec, parsed(to_json(spec))}) {
    EXPECT_EQ(numbers(each, 0, "1"), (std::vector<double>{4}));
    EXPECT_EQ(numbers(each, 0, ""), (std::vector<double>{10}));
  }
}

TEST(TableSpec, AMaskedCellIsTold) {
  const TableSpec spec = parsed(
      with_column(R"({"name": "x", "kind": "number", "at": [0], "missing": {"how": "mask"}})"));
  EXPECT_TRUE(encoded(spec, spec.columns[0], "").missing);
  EXPECT_FALSE(encoded(spec, spec.columns[0], "1").missing);
}

TEST(TableSpec, ARegressionHasItsScale) {
  const TableSpec spec = parsed(R"({"schema": "whyformer.table/1",
      "task": {"kind": "regression", "scale": {"mean": 2.5, "std": 0.5}},
      "columns": [{"name": "x", "kind": "number", "at": [0]}]})");
  EXPECT_EQ(spec.task.output, TaskSpec::Output::kValue);
  EXPECT_EQ(spec.task.mean, 2.5);
  EXPECT_EQ(parsed(to_json(spec)).task.std, 0.5);
}

std::string refusal(const TableSpec& spec, size_t column, std::string_view cell) {
  return message_of<InvalidInput>([&] { encoded(spec, spec.columns[column], cell); });
}

TEST(TableSpec, UnknownWordsAreRefusedWithTheNearestOnes) {
  const TableSpec spec = parsed(kAdult);
  EXPECT_EQ(refusal(spec, 1, "Stategov"),
            "column 'workclass': 'Stategov' is no known category; the nearest are 'State-gov'");
  EXPECT_EQ(refusal(spec, 2, "unheard of"),
            "column 'sex': 'unheard of' is no known category; known are 'Female', 'Male'");
}

TEST(TableSpec, CellsThatAreNoNumbersAreRefused) {
  const TableSpec spec = parsed(kAdult);
  for (const std::string cell : {"1,234", "abc", "inf", "1e999", "0x10", "1 2", "+-1", "nan"})
    EXPECT_THAT(refusal(spec, 0, cell), HasSubstr("column 'age': '" + cell + "' is not a number"));
}

TEST(TableSpec, CellsWithoutAResultAreRefused) {
  const TableSpec spec = parsed(
      with_column(R"({"name": "x", "kind": "number", "at": [0], "steps": [{"op": "log1p"}]})"));
  EXPECT_THAT(refusal(spec, 0, ""), HasSubstr("column 'x': '' is a missing value"));
  EXPECT_THAT(refusal(spec, 0, "-2"), HasSubstr("'-2' has no finite result in the step 'log1p'"));
}

}  // namespace
}  // namespace whyformer
