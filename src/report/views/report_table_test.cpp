#include "report/views/report_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

ReportTable wide_table(size_t numbers) {
  ReportTable table{.title = "t", .head = {"column"}, .rows = {{"marital-status"}, {"age"}}};
  for (size_t i = 0; i < numbers; ++i) {
    table.head.push_back(fmt::format("measure {}", i));
    for (size_t row = 0; row < table.rows.size(); ++row)
      table.rows[row].push_back(fmt::format("{}.{} ± 0.01", row, i));
  }
  return table;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ReportTable, WiderThanTheTerminalIsSplitIntoBlocksThatHoldEveryCell) {
  const ReportTable table = wide_table(8);
  for (const int width : {40, 60, 80}) {
    const std::vector<std::string> lines = terminal_lines(table, width);
    const std::string all = joined(lines);
    for (const std::string& line : lines) EXPECT_LE(columns(line), width) << line;
    for (size_t i = 1; i < table.head.size(); ++i) {
      EXPECT_EQ(count_of(all, table.head[i]), 1u) << all;
      for (const auto& row : table.rows) EXPECT_EQ(count_of(all, row[i]), 1u) << row[i] << all;
    }
    EXPECT_EQ(count_of(all, "marital-status"), count_of(all, "column")) << "in every block";
    EXPECT_GT(count_of(all, "marital-status"), 1u);
    EXPECT_EQ(count_of(all, "…"), 0u);
  }
}

TEST(ReportTable, ThatFitsIsOneBlock) {
  const std::vector<std::string> lines = terminal_lines(wide_table(2), 80);
  EXPECT_EQ(lines.size(), 3u);
}

TEST(ReportTable, LongNamesAreShortenedAndNumbersAreNot) {
  ReportTable table = wide_table(1);
  table.rows[0][0] = std::string(200, 'x');
  const std::string all = joined(terminal_lines(table, 40));
  EXPECT_NE(all.find("0.0 ± 0.01"), all.npos) << all;
  EXPECT_NE(all.find("xx…"), all.npos) << all;
}

}  // namespace
}  // namespace whyformer::report
