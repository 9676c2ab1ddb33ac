// Files that are no table.json, or a hostile one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/tables/table_spec.h"
#include "tests/support/golden_weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

TableSpec parsed(const std::string& text) { return parse_table_spec(bytes_of(text), "table.json"); }

template <typename Kind = FileError>
std::string error_for(const std::string& text) {
  return message_of<Kind>([&] { parsed(text); });
}

constexpr std::string_view kTask = R"("task": {"kind": "regression"})";
constexpr std::string_view kColumns = R"("columns": [{"name": "x", "kind": "number", "at": [0]}])";

std::string file_of(std::string_view fields) {
  return fmt::format(R"({{"schema": "whyformer.table/1", {}}})", fields);
}

std::string with_columns(std::string_view columns) {
  return file_of(fmt::format(R"({}, "columns": [{}])", kTask, columns));
}

// A number column with one step.
std::string with_step(std::string_view step) {
  return with_columns(
      fmt::format(R"({{"name": "x", "kind": "number", "at": [0], "steps": [{}]}})", step));
}

// A category column of the words a and b, with these fields.
std::string with_category(std::string_view fields) {
  return with_columns(
      fmt::format(R"({{"name": "x", "kind": "category", "categories": ["a", "b"], {}}})", fields));
}

std::string with_task(std::string_view task) {
  return file_of(fmt::format(R"("task": {}, {})", task, kColumns));
}

TEST(ParseTableSpec, RefusesWhatIsNotJson) {
  EXPECT_THAT(error_for(""), HasSubstr("'table.json' is not JSON"));
  EXPECT_THAT(error_for("{"), HasSubstr("not JSON"));
  EXPECT_THAT(error_for("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(error_for("{\"a\": \"\xff\"}"), HasSubstr("not JSON"));
}

TEST(ParseTableSpec, RefusesNumbersThatAreNotFinite) {
  EXPECT_THAT(error_for(with_step(R"({"op": "affine", "plus": 1e999})")), HasSubstr("range"));
  EXPECT_THAT(error_for(with_step(R"({"op": "affine", "plus": NaN})")), HasSubstr("not JSON"));
  EXPECT_THAT(error_for(with_step(R"({"op": "affine", "plus": -Infinity})")),
              HasSubstr("not JSON"));
}

TEST(ParseTableSpec, RefusesFilesThatAreTooLargeOrTooDeep) {
  EXPECT_THAT(error_for(std::string(16'000'001, ' ')), HasSubstr("too large"));
  EXPECT_THAT(error_for(std::string(200'000, '[')), HasSubstr("nests too deeply"));
  std::string many = "[1";
  for (int i = 0; i < 4'000'000; ++i) many += ",1";
  EXPECT_THAT(error_for(many + "]"), HasSubstr("too many values"));
}

TEST(ParseTableSpec, RefusesAnotherSchema) {
  EXPECT_THAT(error_for<UnsupportedModel>(R"({"schema": "whyformer.table/2"})"),
              HasSubstr("'whyformer.table/1' is what can be read"));
  EXPECT_THAT(error_for("{}"), HasSubstr("'schema' is missing"));
}

TEST(ParseTableSpec, NamesAStepThatIsNotKnown) {
  const std::string message = error_for<UnsupportedModel>(with_step(R"({"op": "pca"})"));
  EXPECT_THAT(message, HasSubstr("column 'x', step 1: there is no step 'pca'; known are standard"));
  EXPECT_THAT(error_for(with_step("{}")), HasSubstr("'op' is missing"));
}

TEST(ParseTableSpec, ChecksTheNumbersOfAStep) {
  const auto refuses = [](std::string_view step, std::string_view message) {
    EXPECT_THAT(error_for(with_step(step)), HasSubstr(std::string(message))) << step;
  };
  refuses(R"({"op": "standard", "scale": 0})", "'scale' must not be 0");
  refuses(R"({"op": "standard", "mean": "1"})", "'mean' must be a number but is '1'");
  refuses(R"({"op": "quantile"})",
          "must have the same number of entries, at least one, not 0 and 0");
  refuses(R"({"op": "quantile", "quantiles": [1, 2], "references": [0]})", "not 2 and 1");
  refuses(R"({"op": "quantile", "quantiles": [2, 1], "references": [0, 1]})", "must not decrease");
  refuses(R"({"op": "quantile", "quantiles": [1, 2], "references": [0, 2]})", "between 0 and 1");
  refuses(R"({"op": "quantile", "to": "cauchy"})", "'to' must be 'uniform' or 'normal'");
  refuses(R"({"op": "bins", "edges": [1]})", "needs at least two numbers");
  refuses(R"({"op": "clip", "least": 1, "most": 0})", "above");
  refuses(R"({"op": "batch-norm", "mean": 0, "variance": -1})", "above 0");
  refuses(R"({"op": "power"})", "'lambda' is missing");
  refuses(R"({"op": "one-hot"})", "it reads the ids of categories, or bins");
  refuses(R"({"op": "indicator"})", "'at' lists 1 places, but the column fills 2");
  refuses(R"("standard")", "expected an object");
}

TEST(ParseTableSpec, ChecksPlaces) {
  EXPECT_THAT(error_for(with_columns(R"({"name": "x", "kind": "number", "at": [0]},
                                        {"name": "y", "kind": "number", "at": [0]})")),
              HasSubstr("columns 'x' and 'y' are both at place 0"));
  EXPECT_THAT(error_for(with_columns(R"({"name": "x", "kind": "number", "at": [1]})")),
              HasSubstr("no column is at place 0"));
  EXPECT_THAT(error_for(with_columns(R"({"name": "x", "kind": "number", "at": [-1]})")),
              HasSubstr("'at' must list whole numbers from 0"));
  EXPECT_THAT(
      error_for(with_columns(R"({"name": "x", "kind": "number", "at": [18446744073709551615]})")),
      HasSubstr("'at' must list whole numbers"));
  EXPECT_THAT(error_for(with_columns(R"({"name": "x", "kind": "number"})")),
              HasSubstr("'at' lists 0 places"));
  EXPECT_THAT(error_for(with_category(R"("at": [0, 1])")), HasSubstr("the column fills 1"));
}

TEST(ParseTableSpec, ChecksNamesAndKinds) {
  EXPECT_THAT(error_for(with_columns(R"({"name": "x", "kind": "number", "at": [0]},
                                        {"name": "x", "kind": "number", "at": [1]})")),
              HasSubstr("two columns are called 'x'"));
  EXPECT_THAT(error_for(with_columns(R"({"name": "", "kind": "number", "at": [0]})")),
              HasSubstr("column 1: 'name' is empty"));
  EXPECT_THAT(error_for(with_columns(R"({"name": "x", "kind": "word", "at": [0]})")),
              HasSubstr("'kind' is 'word'; known are number, category"));
  EXPECT_THAT(error_for(with_columns("")), HasSubstr("'columns' is empty"));
  EXPECT_THAT(error_for(file_of(kTask)), HasSubstr("'columns' is missing"));
}

TEST(ParseTableSpec, ChecksCategories) {
  EXPECT_THAT(error_for(with_category(R"("at": [0], "ids": [0])")),
              HasSubstr("there are 2 categories but 1 ids"));
  EXPECT_THAT(error_for(with_category(R"("at": [0], "ids": [0, 10000001])")),
              HasSubstr("'ids' must list whole numbers from 0 to 10000000"));
  EXPECT_THAT(error_for(with_category(R"("at": [0], "values": [1])")),
              HasSubstr("there are 2 categories but 1 values"));
  EXPECT_THAT(error_for(with_category(R"("at": [0], "values": [1, 2], "ids": [0, 1])")),
              HasSubstr("not both"));
  EXPECT_THAT(error_for(with_category(R"("at": [0], "steps": [{"op": "log1p"}])")),
              HasSubstr("'log1p' is not possible on ids"));
  EXPECT_THAT(error_for(with_columns(
                  R"({"name": "x", "kind": "category", "at": [0], "categories": ["a", "a"]})")),
              HasSubstr("'a' is listed twice"));
  EXPECT_THAT(error_for(with_columns(R"({"name": "x", "kind": "category", "at": [0]})")),
              HasSubstr("needs its 'categories'"));
  EXPECT_THAT(
      error_for(with_columns(R"({"name": "x", "kind": "number", "at": [0], "categories": ["a"]})")),
      HasSubstr("a number column has no categories"));
}

TEST(ParseTableSpec, ChecksOneHot) {
  const auto with_one_hot = [](std::string_view at, std::string_view step) {
    return with_category(fmt::format(R"("at": {}, "steps": [{}])", at, step));
  };
  EXPECT_THAT(error_for(with_one_hot("[0, 1]", R"({"op": "one-hot", "drop": ["c"]})")),
              HasSubstr("a word that is no category"));
  EXPECT_THAT(error_for(with_one_hot("[0]", R"({"op": "one-hot", "drop": ["a", "b"]})")),
              HasSubstr("leaves no category"));
  EXPECT_THAT(error_for(with_one_hot("[0, 1]", R"({"op": "one-hot", "off": [0], "on": [1]})")),
              HasSubstr("1 numbers for 2 places"));
  EXPECT_THAT(error_for(with_one_hot("[0, 1]", R"({"op": "one-hot"}, {"op": "log1p"})")),
              HasSubstr("not possible after one-hot"));
  EXPECT_THAT(error_for(with_category(R"("at": [0], "ids": [0, 2], "steps": [{"op": "one-hot"}])")),
              HasSubstr("category 'b' has id 2, but 'at' has 1 places"));
}

TEST(ParseTableSpec, ChecksMissingAndUnknown) {
  EXPECT_THAT(error_for(with_category(R"("at": [0], "missing": {"how": "value", "value": 1})")),
              HasSubstr("an id for missing cells, not a number"));
  EXPECT_THAT(error_for(with_category(R"("at": [0], "missing": {"how": "id"})")),
              HasSubstr("'id' is missing"));
  EXPECT_THAT(error_for(with_category(R"("at": [0], "unknown": {"how": "guess"})")),
              HasSubstr("it must be refuse or id"));
  EXPECT_THAT(error_for(with_columns(R"({"name": "x", "kind": "number", "at": [0],
                                         "missing": {"how": "id", "id": 0}})")),
              HasSubstr("only a category with ids"));
}

TEST(ParseTableSpec, ChecksTheTask) {
  EXPECT_THAT(error_for(file_of(kColumns)), HasSubstr("'task' is missing"));
  EXPECT_THAT(error_for(with_task(R"({"kind": "ranking"})")), HasSubstr("'ranking'; known are"));
  EXPECT_THAT(error_for(with_task(R"({"kind": "binary", "labels": ["a"]})")),
              HasSubstr("two labels, not 1"));
  EXPECT_THAT(error_for(with_task(R"({"kind": "multiclass", "output": "one-logit"})")),
              HasSubstr("a multiclass task has no output 'one-logit'"));
  EXPECT_THAT(error_for(with_task(R"({"kind": "regression", "scale": {"std": 0}})")),
              HasSubstr("'std' must be above 0"));
  EXPECT_THAT(error_for(with_task(R"({"kind": "binary", "scale": {"std": 1}})")),
              HasSubstr("only a regression has a scale"));
}

TEST(ParseTableSpec, ReadsFilesOfItsFolderOnly) {
  const auto with = [](std::string_view field) {
    return file_of(fmt::format("{}, {}, {}", kTask, kColumns, field));
  };
  for (const std::string name : {"../model.safetensors", "/etc/passwd", "..", ""}) {
    EXPECT_THAT(error_for(with(fmt::format(R"("model": {{"weights": "{}"}})", name))),
                HasSubstr("must name a file of the same folder"));
    EXPECT_THAT(error_for(with(fmt::format(R"("background": {{"rows": "{}"}})", name))),
                HasSubstr("must name a file of the same folder"));
    EXPECT_THAT(error_for(with(fmt::format(R"("context": {{"rows": "{}"}})", name))),
                HasSubstr("must name a file of the same folder"));
  }
}

TEST(ParseTableSpec, ReadsWhichRowsAreSeenAndWhetherTheySee) {
  const auto context = [](std::string_view fields) {
    return *parsed(file_of(fmt::format(R"({}, {}, "context": {{{}}})", kTask, kColumns, fields)))
                .context;
  };
  const ContextSpec plain = context(R"("block": 4)");
  EXPECT_FALSE(plain.rows.has_value());
  EXPECT_EQ(plain.block, 4);
  const ContextSpec block = context(R"("mode": "block live", "rows": "context.csv")");
  EXPECT_EQ(block.rows, ContextRows::kBlock);
  EXPECT_EQ(block.mode, ContextMode::kLive);
  EXPECT_EQ(context(R"("mode": "alone")").rows, ContextRows::kAlone);
  EXPECT_EQ(context(R"("mode": "rows", "rows": "context.csv")").rows, ContextRows::kGiven);
  const auto error_with = [](std::string_view fields) {
    return error_for(file_of(fmt::format(R"({}, {}, "context": {{{}}})", kTask, kColumns, fields)));
  };
  EXPECT_THAT(error_with(R"("mode": "thawed")"), HasSubstr("not 'thawed'"));
  EXPECT_THAT(error_with(R"("mode": "rows")"), HasSubstr("'rows' names no file"));
}

TEST(ParseTableSpec, ChecksTheProbe) {
  const auto error_with = [](std::string_view probe) {
    return error_for(file_of(fmt::format(R"({}, {}, "probe": {})", kTask, kColumns, probe)));
  };
  EXPECT_THAT(error_with(R"({"rows": [["1", "2"]], "outputs": [[1]]})"),
              HasSubstr("must list 1 cells"));
  EXPECT_THAT(error_with(R"({"rows": [["1"]], "outputs": []})"), HasSubstr("1 rows but 0 outputs"));
  EXPECT_THAT(error_with(R"({"rows": [["1"], ["2"]], "outputs": [[1], [1, 2]]})"),
              HasSubstr("same length"));
  EXPECT_THAT(error_with(R"({"rows": [[{}]], "outputs": [[1]]})"), HasSubstr("texts and numbers"));
  EXPECT_THAT(error_with(R"({"rows": [["1"]]})"), HasSubstr("'outputs' is missing"));
}

}  // namespace
}  // namespace whyformer
