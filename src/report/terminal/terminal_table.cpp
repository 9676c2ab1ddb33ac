#include "report/terminal/terminal_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "report/terminal/terminal_style.h"
#include "report/views/text.h"

namespace whyformer::report {
namespace {

constexpr int kBarWidth = 7;
constexpr int kWidestHeading = 15;
constexpr int kShortestLabel = 8;

struct ScoreColumn {
  std::vector<Item> items;
  double scale = 0;
  ScoreKind kind = ScoreKind::kSigned;
  std::vector<std::string> heading;
  int number_width = 0;
  int width = 0;
};

std::string number(const Item& item, const ScoreColumn& column) {
  if (std::isnan(item.score)) return "–";
  const std::string error = format_error(item.error, column.scale);
  return format_score(item.score, column.scale, column.kind) + (error.empty() ? "" : " " + error);
}

// "integrated_gradients" in two short lines rather than one long one.
std::vector<std::string> heading_lines(const std::string& name) {
  std::vector<std::string> lines(1);
  std::string part;
  const auto take = [&] {
    if (!lines.back().empty() && columns(lines.back() + part) > kWidestHeading)
      lines.emplace_back();
    lines.back() += part;
    part.clear();
  };
  for (const std::string& grapheme : graphemes(name)) {
    part += grapheme;
    if (grapheme == "_" || grapheme == "-" || grapheme == " ") take();
  }
  take();
  for (std::string& line : lines) line = shortened(line, kWidestHeading);
  return lines;
}

ScoreColumn make_column(const Attribution& attribution, std::vector<Item> items, double scale) {
  ScoreColumn column{.items = std::move(items),
                     .scale = scale,
                     .kind = kind_of(attribution),
                     .heading = heading_lines(printable(attribution.method))};
  for (const Item& item : column.items) {
    column.number_width = std::max(column.number_width, columns(number(item, column)));
  }
  column.width = kBarWidth + 1 + column.number_width;
  for (const std::string& line : column.heading) {
    column.width = std::max(column.width, columns(line));
  }
  return column;
}

struct TableWriter {
  TerminalStyle style;
  std::vector<size_t> rows;
  int label_width = 0;
  std::vector<std::string> lines = {};

  void heading(std::span<const ScoreColumn> shown) {
    size_t height = 0;
    for (const ScoreColumn& column : shown) height = std::max(height, column.heading.size());
    for (size_t h = 0; h < height; ++h) {
      std::string& line = lines.emplace_back(static_cast<size_t>(2 + label_width), ' ');
      for (const ScoreColumn& column : shown) {
        const size_t skipped = height - column.heading.size();
        const std::string part = h < skipped ? "" : column.heading[h - skipped];
        const bool last = &column == &shown.back();
        line += "  " + style.bold(last ? part : left_aligned(part, column.width));
      }
    }
  }

  std::string cell(const ScoreColumn& column, size_t row) const {
    const Item& item = column.items[row];
    const std::string bar = style.bar(strength(item.score, column.scale), kBarWidth, column.kind);
    const int padding = column.width - kBarWidth - 1 - column.number_width;
    return bar + " " + right_aligned(number(item, column), column.number_width) +
           std::string(static_cast<size_t>(padding), ' ');
  }

  void table(std::span<const ScoreColumn> shown) {
    lines.emplace_back();
    heading(shown);
    for (const size_t row : rows) {
      const std::string label = printable(shown.front().items[row].text);
      std::string& line = lines.emplace_back("  ");
      line += right_aligned(shortened(label, label_width), label_width);
      for (const ScoreColumn& column : shown) line += "  " + cell(column, row);
    }
  }
};

// How many of the columns fit into the width; at least one.
size_t fitting(std::span<const ScoreColumn> columns, int width) {
  size_t count = 0;
  for (int used = 0; count < columns.size(); ++count) {
    used += 2 + columns[count].width;
    if (count > 0 && used > width) break;
  }
  return count;
}

}  // namespace

std::vector<std::string> side_by_side_lines(const Explanation& explanation,
                                            const TerminalOptions& options) {
  const AlignedItems aligned = aligned_items(explanation, options.special);
  const std::vector<Item> means = mean_strengths(aligned);
  if (means.empty()) return {};
  std::vector<ScoreColumn> all;
  for (size_t i = 0; i < aligned.items.size(); ++i) {
    all.push_back(make_column(explanation.attributions[i], aligned.items[i], aligned.scales[i]));
  }
  TableWriter writer{{options.colour}, strongest(means, kMostBars)};
  for (const size_t i : writer.rows) {
    writer.label_width =
        std::max(writer.label_width, std::min(kWidestLabel, columns(printable(means[i].text))));
  }
  for (const ScoreColumn& column : all) {  // long numbers take room from long words
    writer.label_width =
        std::min(writer.label_width, std::max(kShortestLabel, options.width - 4 - column.width));
  }
  for (std::span<const ScoreColumn> left = all; !left.empty();) {
    const size_t count = fitting(left, options.width - 2 - writer.label_width);
    writer.table(left.first(count));
    left = left.subspan(count);
  }
  if (means.size() > writer.rows.size()) {
    writer.lines.push_back(
        writer.style.faint(fmt::format("  and {} more", means.size() - writer.rows.size())));
  }
  return std::move(writer.lines);
}

}  // namespace whyformer::report
