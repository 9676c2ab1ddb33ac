#include "report/terminal/row_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "report/terminal/terminal_style.h"
#include "report/views/row_view.h"
#include "report/views/text.h"
#include "whyformer/printable.h"

namespace whyformer::report {
namespace {

constexpr size_t kMostRows = 20;
constexpr int kWidestName = 24, kWidestCell = 20, kNarrowest = 6;  // columns of the terminal
constexpr int kNarrowestBar = 6, kWidestBar = 16;
constexpr int kGap = 2;

struct RowMethod {
  const Attribution* attribution = nullptr;
  std::string heading;
  double scale = 0;
  int number_width = 0;

  std::string number(size_t unit) const {
    const double score = attribution->scores[unit];
    return std::isnan(score) ? "–" : format_score(score, scale, kind_of(*attribution));
  }
};

class RowTable {
 public:
  RowTable(const Explanation& explanation, const TerminalOptions& options)
      : explanation_(explanation),
        options_(options),
        style_{options.colour},
        columns_(row_columns(explanation)),
        order_(columns_.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    if (!explanation.attributions.empty())
      order_ = by_strength(columns_, explanation.attributions.front());
    if (order_.size() > kMostRows) order_.resize(kMostRows);
    measure_texts();
    for (const Attribution& attribution : explanation.attributions) add(attribution);
  }

  std::vector<std::string> write() {
    std::span<const RowMethod> left = methods_;
    do {
      const size_t count = fitting(left);
      table(left.first(count));
      left = left.subspan(count);
    } while (!left.empty());
    if (columns_.size() > order_.size()) {
      const auto more = static_cast<int64_t>(columns_.size() - order_.size());
      lines_.push_back(style_.faint("  and " + quantity(more, "more " + unit_word(explanation_))));
    }
    return std::move(lines_);
  }

 private:
  // Names and cells share half of the width at most.
  void measure_texts() {
    name_width_ = columns("column");
    cell_width_ = columns("value");
    for (const size_t i : order_) {
      name_width_ = std::max(name_width_, std::min(kWidestName, columns(name_of(i))));
      cell_width_ = std::max(cell_width_, std::min(kWidestCell, columns(cell_of(i))));
    }
    const int room = options_.width / 2;
    while (name_width_ + cell_width_ > room) {
      int& wider = name_width_ >= cell_width_ ? name_width_ : cell_width_;
      if (wider <= kNarrowest) break;
      --wider;
    }
  }

  void add(const Attribution& attribution) {
    RowMethod method{.attribution = &attribution,
                     .heading = printable(attribution.method),
                     .scale = scale_of(explanation_, attribution, SpecialTokens::kExclude).items};
    for (const size_t i : order_)
      method.number_width = std::max(method.number_width, columns(method.number(columns_[i].unit)));
    methods_.push_back(std::move(method));
  }

  std::string name_of(size_t column) const { return printable(columns_[column].name); }
  std::string cell_of(size_t column) const { return printable(columns_[column].cell); }

  int width_of(const RowMethod& method) const {
    return std::max(method.number_width + 1 + kNarrowestBar,
                    std::min(columns(method.heading), method.number_width + 1 + kWidestBar));
  }

  // How many methods stand beside each other; at least one where there is one.
  size_t fitting(std::span<const RowMethod> left) const {
    int used = kGap + name_width_ + kGap + cell_width_;
    size_t count = 0;
    for (; count < left.size(); ++count) {
      used += kGap + width_of(left[count]);
      if (count > 0 && used > options_.width) break;
    }
    return count;
  }

  // What is left over makes the bars longer.
  void table(std::span<const RowMethod> shown) {
    int spare = options_.width - (kGap + name_width_ + kGap + cell_width_);
    for (const RowMethod& method : shown) spare -= kGap + width_of(method);
    const int each = shown.empty() ? 0 : std::max(0, spare) / static_cast<int>(shown.size());
    std::vector<int> widths;
    for (const RowMethod& method : shown) {
      const int widest = std::max(width_of(method), method.number_width + 1 + kWidestBar);
      widths.push_back(std::min(width_of(method) + each, widest));
    }
    lines_.emplace_back();
    std::string head = left_aligned(unit_word(explanation_), name_width_ + kGap) +
                       (shown.empty() ? "value" : left_aligned("value", cell_width_));
    for (size_t i = 0; i < shown.size(); ++i) {
      const std::string name = shortened(shown[i].heading, widths[i]);
      head += "  " + (i + 1 < shown.size() ? left_aligned(name, widths[i]) : name);
    }
    lines_.push_back("  " + style_.bold(head));
    for (const size_t column : order_) row(column, shown, widths);
  }

  void row(size_t column, std::span<const RowMethod> shown, const std::vector<int>& widths) {
    std::string line = "  " +
                       left_aligned(shortened(name_of(column), name_width_), name_width_ + kGap) +
                       left_aligned(shortened(cell_of(column), cell_width_), cell_width_);
    for (size_t i = 0; i < shown.size(); ++i) {
      const RowMethod& method = shown[i];
      const size_t unit = columns_[column].unit;
      const std::string bar =
          style_.bar(strength(method.attribution->scores[unit], method.scale),
                     widths[i] - method.number_width - 1, kind_of(*method.attribution));
      line += "  " + right_aligned(method.number(unit), method.number_width) + " " + bar;
    }
    lines_.push_back(line.erase(line.find_last_not_of(' ') + 1));
  }

  const Explanation& explanation_;
  TerminalOptions options_;
  TerminalStyle style_;
  std::vector<RowColumn> columns_;
  std::vector<size_t> order_;  // of the columns that are shown
  std::vector<RowMethod> methods_;
  int name_width_ = 0, cell_width_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> row_lines(const Explanation& explanation, const TerminalOptions& options) {
  return RowTable(explanation, options).write();
}

}  // namespace whyformer::report
