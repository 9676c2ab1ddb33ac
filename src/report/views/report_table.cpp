#include "report/views/report_table.h"

#include <algorithm>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

std::string row_markup(const std::vector<std::string>& cells, const char* tag, size_t names) {
  std::string row = "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string start = i < names ? "<" + std::string(tag) + " class=\"name\">"
                                        : "<" + std::string(tag) + " class=\"number\">";
    row += start + escape_markup(cells[i]) + "</" + tag + ">";
  }
  return row + "</tr>";
}

// The names stand in front of every block; they have half of the width at most.
class TableBlocks {
 public:
  TableBlocks(const ReportTable& table, int width) : table_(table), width_(width) {
    for (size_t i = 0; i < table.head.size(); ++i) {
      int widest = columns(printable(table.head[i]));
      for (const auto& row : table.rows) widest = std::max(widest, columns(printable(row[i])));
      widths_.push_back(widest);
    }
    const int room = (width - kMargin) / 2 / static_cast<int>(std::max<size_t>(1, table.names));
    for (size_t i = 0; i < table.names && i < widths_.size(); ++i)
      widths_[i] = std::min(widths_[i], std::max(kNarrowestName, room - 1));
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    size_t first = table_.names;
    do {
      if (!lines.empty()) lines.emplace_back();
      const size_t end = end_of_block(first);
      lines.push_back(line(table_.head, first, end));
      for (const auto& row : table_.rows) lines.push_back(line(row, first, end));
      first = end;
    } while (first < table_.head.size());
    return lines;
  }

 private:
  static constexpr int kMargin = 1, kNarrowestName = 8;

  size_t end_of_block(size_t first) const {
    int used = kMargin;
    for (size_t i = 0; i < table_.names && i < widths_.size(); ++i) used += 1 + widths_[i];
    size_t end = first;
    for (; end < widths_.size(); ++end) {
      used += 2 + widths_[end];
      if (end > first && used > width_) break;
    }
    return end;
  }

  std::string line(const std::vector<std::string>& cells, size_t first, size_t end) const {
    std::string line(kMargin, ' ');
    for (size_t i = 0; i < table_.names && i < cells.size(); ++i)
      line += " " + left_aligned(shortened(printable(cells[i]), widths_[i]), widths_[i]);
    for (size_t i = first; i < end; ++i)
      line += "  " + right_aligned(printable(cells[i]), widths_[i]);
    while (line.ends_with(' ')) line.pop_back();
    return shortened(line, width_);
  }

  const ReportTable& table_;
  int width_;
  std::vector<int> widths_;
};

}  // namespace

std::vector<std::string> terminal_lines(const ReportTable& table, int width) {
  return TableBlocks(table, width).lines();
}

std::string table_markup(const ReportTable& table) {
  std::string rows;
  for (const auto& row : table.rows) rows += row_markup(row, "td", table.names) + "\n";
  std::string markup = "<h2>" + escape_markup(table.title) +
                       "</h2>\n<div class=\"table-frame\"><table><thead>" +
                       row_markup(table.head, "th", table.names) + "</thead><tbody>\n" + rows +
                       "</tbody></table></div>\n";
  if (!table.explained.empty())
    markup += "<p class=\"faint\">" + escape_markup(table.explained) + "</p>\n";
  return markup;
}

}  // namespace whyformer::report
