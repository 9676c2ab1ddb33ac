#include "whyformer/printable.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace whyformer {
namespace {

TEST(Printable, SpellsOutWhatSteersATerminalAndLeavesTheRest) {
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("\u009b31m\x7f"), "\\x9b31m\\x7f");
  EXPECT_EQ(printable("a\u202eb\u2066c\U000e0001"), "a\\u{202e}b\\u{2066}c\\u{e0001}");
  EXPECT_EQ(printable("naïve 映画 👩‍👧"), "naïve 映画 👩‍👧");
}

TEST(Printable, TwiceIsAsOnce) {
  const std::string once = printable("\x1b[2J\n\xff");
  EXPECT_EQ(printable(once), once);
}

TEST(Quantity, OfOneThingHasNoPlural) {
  EXPECT_EQ(quantity(1, "input"), "1 input");
  EXPECT_EQ(quantity(0, "input"), "0 inputs");
  EXPECT_EQ(quantity(12, "more column"), "12 more columns");
}

// A parser is the judge that nothing changed.
TEST(Printable, JsonHasTheSameMeaning) {
  const nlohmann::json json{
      {"a\u009b", {"\x1b[31m", "\u202e", "\x7f", "é映👧", "\U000e0001", "x\ny\tz\\"}},
      {"n", -1.5e-7}};
  for (const int indent : {-1, 2}) {
    const std::string shown = printable_json(json.dump(indent));
    EXPECT_EQ(nlohmann::json::parse(shown), json);
    for (const char* steering : {"\x1b", "\u009b", "\u202e", "\x7f", "\U000e0001"}) {
      EXPECT_EQ(shown.find(steering), shown.npos) << shown;
    }
  }
}

}  // namespace
}  // namespace whyformer
