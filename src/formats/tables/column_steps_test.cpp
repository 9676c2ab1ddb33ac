#include "formats/tables/column_steps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/tables/table_spec.h"
#include "formats/weights.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

// scripts/golden/table_steps_golden.py: what scikit-learn makes of a column's numbers.
struct GoldenSteps {
  TableSpec spec;
  StoredTensors tensors;

  std::vector<double> numbers(const std::string& name) const {
    const StoredTensor& tensor = tensors.at(name);
    std::vector<double> values(tensor.count());
    std::memcpy(values.data(), tensor.data.view.data(), tensor.data.size());
    return values;
  }
};

const GoldenSteps& golden_steps() {
  static const GoldenSteps golden = [] {
    const auto folder = source_folder() / "tests/golden/tables";
    return GoldenSteps{
        parse_table_spec(map_file(folder / "steps.json"), "steps.json"),
        read_safetensors(map_file(folder / "steps.safetensors"), "steps.safetensors")};
  }();
  return golden;
}

double after_steps(const ColumnSpec& column, double x) {
  for (const ColumnStep& step : column.steps) x = after_step(step, x);
  return x;
}

bool is_normal_quantile(const ColumnStep& step) {
  const auto* quantile = std::get_if<QuantileStep>(&step);
  return quantile != nullptr && quantile->to_normal;
}

TEST(ColumnSteps, GiveWhatScikitLearnGives) {
  const GoldenSteps& golden = golden_steps();
  EXPECT_GE(golden.spec.columns.size(), 25u);
  for (const ColumnSpec& column : golden.spec.columns) {
    SCOPED_TRACE(column.name);
    const double tolerance = std::ranges::any_of(column.steps, is_normal_quantile) ? 1e-9 : 1e-12;
    const std::vector<double> numbers = golden.numbers(column.name + ".numbers");
    const std::vector<double> expected = golden.numbers(column.name + ".expected");
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double found = after_steps(column, numbers[i]);
      if (std::isnan(expected[i])) {
        EXPECT_TRUE(std::isnan(found)) << numbers[i];
      } else {
        EXPECT_NEAR(found, expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
            << fmt::format("{}", numbers[i]);
      }
    }
  }
}

TEST(ColumnSteps, GiveTheSameForNumbersWrittenAsText) {
  const GoldenSteps& golden = golden_steps();
  for (const ColumnSpec& column : golden.spec.columns) {
    for (const double number : golden.numbers(column.name + ".numbers")) {
      const std::string cell = std::isnan(number) ? "NA" : fmt::format("{}", number);
      const double found = encoded(golden.spec, column, cell).numbers[0];
      if (std::isnan(number))
        EXPECT_TRUE(std::isnan(found)) << column.name;
      else
        EXPECT_EQ(found, after_steps(column, number)) << column.name;
    }
  }
}

TEST(ColumnSteps, QuantileEndsHaveAMarginForTheNormalDistributionOnly) {
  const std::vector<double> quantiles = {0, 1}, references = {0, 1};
  const ColumnStep normal = QuantileStep{true, quantiles, references};
  const ColumnStep uniform = QuantileStep{false, quantiles, references};
  EXPECT_EQ(after_step(normal, 0.5e-7), -5.199337582605575);
  EXPECT_EQ(after_step(normal, 1 - 0.5e-7), 5.19933758270342);
  // Half of it is counted from the other end, 1, with the rounding of numbers near 1.
  EXPECT_NEAR(after_step(uniform, 0.5e-7), 0.5e-7, 1e-16);
  // Where both ends are near, the lower one wins.
  EXPECT_LT(after_step(QuantileStep{true, {0, 1e-8}, references}, 0.5e-8), -5);
}

TEST(ColumnSteps, AStepThatIsNotDefinedGivesNoNumber) {
  EXPECT_TRUE(std::isnan(after_step(PowerStep{.box_cox = true, .lambda = 0.5}, 0)));
  EXPECT_TRUE(std::isnan(after_step(PowerStep{.box_cox = true, .lambda = 0.5}, -1)));
  EXPECT_TRUE(std::isnan(after_step(Log1pStep{}, -1.5)));
}

}  // namespace
}  // namespace whyformer
