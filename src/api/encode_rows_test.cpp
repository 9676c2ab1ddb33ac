#include <gtest/gtest.h>

#include "tests/support/golden_weights.h"
#include "whyformer/error.h"
#include "whyformer/table_spec.h"

namespace whyformer {
namespace {

constexpr std::string_view kTable = R"({"schema": "whyformer.table/1",
 "task": {"kind": "regression"},
 "columns": [
  {"name": "age", "kind": "number", "input": "x_cont", "at": [2],
   "steps": [{"op": "standard", "mean": 30, "scale": 10}]},
  {"name": "work", "kind": "category", "input": "x_cat", "at": [0], "categories": ["a", "b"]},
  {"name": "sex", "kind": "category", "input": "x_cont", "at": [1, 0],
   "categories": ["f", "m"], "steps": [{"op": "one-hot"}]}]})";

TEST(EncodeRows, PutsCellsWhereTheModelReadsThem) {
  const auto inputs = encode_rows(kTable, {"sex", "label", "work", "age"},
                                  {{"f", "?", "b", "40"}, {"m", "", "a", "25"}});
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].name, "x_cont");
  EXPECT_EQ(inputs[0].columns, 3);
  EXPECT_EQ(inputs[0].numbers, (std::vector<double>{0, 1, 1, 1, 0, -0.5}));
  EXPECT_EQ(inputs[1].numbers, (std::vector<double>{1, 0}));
}

TEST(EncodeRows, NamesWhatIsMissingAndWhatDoesNotFit) {
  EXPECT_EQ(message_of<InvalidInput>([] { encode_rows(kTable, {"sex"}, {}); }),
            "the table has no column 'age', 'work'");
  EXPECT_EQ(message_of<InvalidInput>([] {
              encode_rows(kTable, {"sex", "work", "age"}, {{"f", "a", "1"}, {"f", "c", "1"}});
            }),
            "row 1, column 'work': 'c' is no known category; the nearest are 'a', 'b'");
}

}  // namespace
}  // namespace whyformer
