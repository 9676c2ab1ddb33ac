// Head importance for a terminal: a coloured grid per measure, its extremes, the pruning curve.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/terminal/roles_terminal.h"
#include "report/terminal/terminal_writer.h"
#include "report/views/heads_view.h"
#include "report/views/text.h"
#include "report/views/view.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr int kLayerWidth = 7;  // "  layer"
constexpr size_t kMostNamed = 5;
constexpr int kWidestBar = 24;

// What the cells of a grid hold: as much as the terminal has room for.
enum class HeadCells { kNumbers, kPercent, kMarks };

class HeadsReport : private TerminalWriter {
 public:
  HeadsReport(const HeadImportance& importance, const TerminalOptions& options)
      : TerminalWriter(options), importance_(importance) {}

  std::string write() {
    bold("Heads of " + model_line(importance_.model));
    const std::string corpus = fmt::format("{} · {:.1f} s · layer 0 is nearest the input",
                                           corpus_line(importance_), importance_.seconds);
    faint(corpus);
    for (const HeadScores& scores : importance_.measures) measure(scores);
    if (importance_.roles) {
      for (const std::string& one : roles_lines(*importance_.roles, style(), width())) line(one);
    }
    if (importance_.pruning) pruning(*importance_.pruning);
    if (!importance_.notes.empty()) line("");
    for (const std::string& note : importance_.notes) faint_sentence(note);
    return finish();
  }

 private:
  void measure(const HeadScores& scores) {
    line("");
    const std::string options = options_line(scores);
    line(style().bold(scores.measure) + (options.empty() ? "" : "  " + style().faint(options)));
    faint_sentence(scores.summary);
    grid(scores.values);
    extremes(scores.values);
  }

  void grid(const HeadGrid& values) {
    const double scale = largest_score(values);
    const HeadCells cells = fitting_cells(values);
    const int width = cell_width(values, cells);
    std::string heading = "  layer";
    for (size_t head = 0; head < most_heads(values); ++head) {
      heading += right_aligned(
          cells == HeadCells::kMarks ? fmt::format("{}", head % 10) : fmt::format("{}", head),
          width);
    }
    line(style().faint(heading));
    for (size_t layer = 0; layer < values.size(); ++layer) {
      std::string row = right_aligned(fmt::format("{}", layer), kLayerWidth);
      for (const double score : values[layer]) row += cell(score, scale, cells, width);
      line(row);
    }
    if (cells == HeadCells::kPercent) faint_sentence("Cells are percentages of the largest.");
  }

  std::string cell(double score, double scale, HeadCells cells, int width) const {
    const double share = strength(score, scale);
    std::string text = format_cell(score, scale);
    if (cells == HeadCells::kPercent) text = fmt::format("{:.0f}", 100 * share);
    if (cells == HeadCells::kMarks) text = style().colour ? " " : heat_mark(share);
    // One column between cells stays plain.
    return " " + style().heat(right_aligned(text, width - 1), share, ScoreKind::kMagnitude);
  }

  int cell_width(const HeadGrid& values, HeadCells cells) const {
    if (cells == HeadCells::kMarks) return 2;
    if (cells == HeadCells::kPercent) return 4;
    int widest = 0;
    for (const std::vector<double>& layer : values) {
      for (const double score : layer) {
        widest = std::max(widest, columns(format_cell(score, largest_score(values))));
      }
    }
    return widest + 1;
  }

  HeadCells fitting_cells(const HeadGrid& values) const {
    const auto heads = static_cast<int>(most_heads(values));
    for (const HeadCells cells : {HeadCells::kNumbers, HeadCells::kPercent}) {
      if (kLayerWidth + heads * cell_width(values, cells) <= width()) return cells;
    }
    return HeadCells::kMarks;
  }

  void extremes(const HeadGrid& values) {
    std::vector<HeadName> order = ranked(values);
    const size_t count = std::min(kMostNamed, order.size() / 2);
    named("highest", values, {order.begin(), order.begin() + static_cast<ptrdiff_t>(count)});
    std::reverse(order.begin(), order.end());
    named("lowest", values, {order.begin(), order.begin() + static_cast<ptrdiff_t>(count)});
  }

  // "highest  3.1 0.912 · 2.0 0.871": layer and head, score.
  void named(const char* what, const HeadGrid& values, const std::vector<HeadName>& names) {
    if (names.empty()) return;
    std::string text = fmt::format("  {:<7} ", what);
    for (const HeadName& name : names) {
      const std::string part =
          fmt::format(" {}.{} {}", name.layer, name.head,
                      format_cell(values[name.layer][name.head], largest_score(values)));
      if (columns(text + part) > width()) break;
      text += part + " ";
    }
    line(text);
  }

  void pruning(const PruningCurve& curve) {
    line("");
    line(style().bold("pruning") +
         (curve.keep_one ? "  " + style().faint("one head per layer is kept") : ""));
    faint_sentence(
        fmt::format("Accuracy on {} {} as heads are pruned: lowest {} first, or "
                    "in random order (seed {}).",
                    curve.examples, importance_.kind, curve.measure, curve.seed));
    const int bar = std::clamp((width() - 36) / 2, 4, kWidestBar);
    line(style().faint(fmt::format("  {:>10}  {}  random", "pruned",
                                   left_aligned("by " + curve.measure, bar + 8))));
    const auto all = static_cast<double>(head_count(importance_.measures[0].values));
    for (const PruningStep& step : curve.steps) {
      line(fmt::format("  {:>3} {:>4.0f} %  {}  {}", step.pruned,
                       100 * static_cast<double>(step.pruned) / all, accuracy(step.accuracy, bar),
                       accuracy(step.random_accuracy, bar)));
    }
  }

  std::string accuracy(double share, int bar) const {
    return right_aligned(format_percent(share), 7) + " " +
           style().bar(share, bar, ScoreKind::kSigned);
  }

  const HeadImportance& importance_;
};

}  // namespace
}  // namespace report

std::string to_terminal(const HeadImportance& importance, const TerminalOptions& options) {
  report::check(importance);
  return report::HeadsReport(importance, options).write();
}

}  // namespace whyformer
