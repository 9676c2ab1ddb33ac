// An explanation for a terminal: the prediction, the text in colours, and bars of the top words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/terminal_style.h"
#include "report/terminal_text.h"
#include "report/text.h"
#include "report/view.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr size_t kMostBars = 12;
constexpr int kWidestLabel = 20;
constexpr int kWidestBar = 40;
constexpr int kColumnBar = 7;  // of the side-by-side table

class TerminalReport {
 public:
  TerminalReport(const Explanation& explanation, const TerminalOptions& options)
      : explanation_(explanation), options_(options), style_{options.colour} {
    options_.width = std::max(options_.width, 40);
  }

  std::string write() {
    prediction();
    const std::vector<Attribution>& methods = explanation_.attributions;
    if (methods.empty()) {
      lines({""});
      lines(plain_lines(explanation_, options_));
      lines({"", style_.faint("No method was run.")});
    }
    for (const Attribution& attribution : methods) method(attribution);
    if (methods.size() > 1) side_by_side();
    sentences(hidden_tokens_sentence(explanation_, options_.special), explanation_.notes);
    return std::move(out_);
  }

 private:
  void lines(const std::vector<std::string>& list) {
    for (const std::string& line : list) out_ += line + "\n";
  }

  void sentences(const std::string& first, const std::vector<std::string>& others) {
    std::vector<std::string> all = others;
    if (!first.empty()) all.insert(all.begin(), first);
    if (!all.empty()) lines({""});
    for (const std::string& sentence : all) {
      for (const std::string& line : wrapped_sentence(sentence, options_.width)) {
        lines({style_.faint(line)});
      }
    }
  }

  void answer_line(const char* verb, const Answer& answer, const std::string& remark) {
    const std::string label = shortened(printable(answer.label), options_.width / 2);
    std::string line = fmt::format("{} {}  ", verb, style_.bold(label));
    if (answer.probability) {
      line += style_.bar(strength(*answer.probability, 1), 20, ScoreKind::kSigned) + " " +
              format_percent(*answer.probability);
    } else {
      line += format_score(answer.value, std::abs(answer.value), ScoreKind::kMagnitude);
    }
    lines({line + remark});
  }

  void prediction() {
    const std::vector<Answer> answers = best_answers(explanation_, 1 + 1);
    const Answer target = target_answer(explanation_);
    if (answers.empty()) {
      answer_line("Explained", target, fmt::format("  ({})", printable(explanation_.output.space)));
    } else if (answers.front().is_target) {
      answer_line("Predicted", target, "");
    } else {
      answer_line("Predicted", answers.front(), "");
      answer_line("Explained", target, "  (not the prediction)");
    }
    const ModelName& model = explanation_.model;
    std::string name = fmt::format("{} ({}) · {} tokens", model.name, model.architecture,
                                   explanation_.units.size());
    if (answers.size() > 1) name += fmt::format(" · {} labels", explanation_.output.values.size());
    lines({style_.faint(shortened(printable(name), options_.width))});
  }

  void method(const Attribution& attribution) {
    const std::string name = shortened(printable(attribution.method), options_.width);
    lines({"", style_.bold(name)});
    const std::string info = printable(cost_line(attribution));
    if (!info.empty()) lines({style_.faint(shortened(info, options_.width))});
    lines(heat_lines(explanation_, attribution, options_));
    if (explanation_.attributions.size() == 1) {
      lines({""});
      bars(attribution);
    }
    remarks(attribution);
  }

  void remarks(const Attribution& attribution) {
    const double scale = scale_of(explanation_, attribution, options_.special).items;
    std::string first;
    const bool broken = std::any_of(attribution.scores.begin(), attribution.scores.end(),
                                    [](double score) { return !std::isfinite(score); });
    if (broken) {
      first = "Some scores are not a number; they are not coloured.";
    } else if (scale == 0) {
      first = "All scores are zero.";
    } else if (!options_.colour && attribution.is_signed) {
      first = "▁ to █: for the target; ░▒▓: against it.";
    }
    std::vector<std::string> all = attribution.notes;
    if (!first.empty()) all.insert(all.begin(), first);
    for (const std::string& sentence : all) {
      for (const std::string& line : wrapped_sentence(sentence, options_.width)) {
        lines({style_.faint(line)});
      }
    }
  }

  void bars(const Attribution& attribution) {
    const std::vector<Item> items = items_of(explanation_, attribution, options_.special);
    const double scale = scale_of(explanation_, attribution, options_.special).items;
    const std::vector<size_t> top = strongest(items, kMostBars);
    int label_width = 0;
    int number_width = 0;
    for (const size_t i : top) {
      label_width = std::max(label_width, std::min(kWidestLabel, columns(printable(items[i].text))));
      number_width = std::max(number_width, columns(number(items[i], scale, attribution)));
    }
    const int bar_width = std::min(kWidestBar, options_.width - label_width - number_width - 6);
    for (const size_t i : top) {
      lines({fmt::format(
          "  {}  {}  {}",
          right_aligned(shortened(printable(items[i].text), label_width), label_width),
          style_.bar(strength(items[i].score, scale), bar_width, kind_of(attribution)),
          right_aligned(number(items[i], scale, attribution), number_width))});
    }
    and_more(items.size() - top.size());
  }

  void and_more(size_t count) {
    if (count > 0) lines({style_.faint(fmt::format("  and {} more", count))});
  }

  std::string number(const Item& item, double scale, const Attribution& attribution) const {
    return format_score(item.score, scale, kind_of(attribution));
  }

  struct Column {
    const Attribution* attribution;
    std::vector<Item> items;
    double scale;
    int number_width;
    std::vector<std::string> heading;
    int width() const {
      int widest = kColumnBar + 1 + number_width;
      for (const std::string& line : heading) widest = std::max(widest, columns(line));
      return widest;
    }
  };

  // "integrated_gradients" in two short lines rather than one long one.
  static std::vector<std::string> heading_lines(const std::string& name) {
    constexpr int kWidest = 15;
    std::vector<std::string> out(1);
    std::string part;
    const auto take = [&] {
      if (!out.back().empty() && columns(out.back() + part) > kWidest) out.emplace_back();
      out.back() += part;
      part.clear();
    };
    for (const std::string& grapheme : graphemes(name)) {
      part += grapheme;
      if (grapheme == "_" || grapheme == "-" || grapheme == " ") take();
    }
    take();
    for (std::string& line : out) line = shortened(line, kWidest);
    return out;
  }

  Column column(const Attribution& attribution) const {
    Column column{&attribution, items_of(explanation_, attribution, options_.special),
                  scale_of(explanation_, attribution, options_.special).items, 0,
                  heading_lines(printable(attribution.method))};
    for (const Item& item : column.items) {
      column.number_width = std::max(column.number_width, columns(cell_number(item, column)));
    }
    return column;
  }

  static std::string cell_number(const Item& item, const Column& column) {
    if (!std::isfinite(item.score)) return "n/a";
    return format_score(item.score, column.scale, kind_of(*column.attribution));
  }

  // Words by their mean strength over the methods: one with a tiny scale counts like the others.
  static std::vector<Item> ranked_by_mean_strength(const std::vector<Column>& columns) {
    std::vector<Item> means = columns.front().items;
    for (Item& item : means) item.score = 0;
    for (const Column& column : columns) {
      for (size_t i = 0; i < means.size(); ++i) {
        means[i].score += std::abs(strength(column.items[i].score, column.scale));
      }
    }
    return means;
  }

  void side_by_side() {
    std::vector<Column> all;
    for (const Attribution& attribution : explanation_.attributions) {
      all.push_back(column(attribution));
      if (all.back().items.size() != all.front().items.size()) return;  // other words, no table
    }
    const std::vector<Item> means = ranked_by_mean_strength(all);
    const std::vector<size_t> rows = strongest(means, kMostBars);
    if (rows.empty()) return;
    int label_width = 0;
    for (const size_t i : rows) {
      label_width = std::max(label_width, std::min(kWidestLabel, columns(printable(means[i].text))));
    }
    for (size_t first = 0; first < all.size();) {
      size_t last = first;
      int used = 2 + label_width;
      while (last < all.size() && (last == first || used + 2 + all[last].width() <= options_.width)) {
        used += 2 + all[last++].width();
      }
      table({all.begin() + static_cast<int64_t>(first), all.begin() + static_cast<int64_t>(last)},
            rows, label_width);
      first = last;
    }
    and_more(means.size() - rows.size());
  }

  void table(const std::vector<Column>& columns_shown, const std::vector<size_t>& rows,
             int label_width) {
    size_t heading_height = 0;
    for (const Column& column : columns_shown) {
      heading_height = std::max(heading_height, column.heading.size());
    }
    lines({""});
    for (size_t h = 0; h < heading_height; ++h) {
      std::string line(static_cast<size_t>(2 + label_width), ' ');
      for (const Column& column : columns_shown) {
        const size_t skipped = heading_height - column.heading.size();
        const std::string part = h < skipped ? "" : column.heading[h - skipped];
        line += "  " + style_.bold(left_aligned(part, column.width()));
      }
      lines({line});
    }
    for (const size_t row : rows) {
      const std::string label = printable(columns_shown.front().items[row].text);
      std::string line = "  " + right_aligned(shortened(label, label_width), label_width);
      for (const Column& column : columns_shown) line += "  " + cell(column, row);
      lines({line});
    }
  }

  std::string cell(const Column& column, size_t row) const {
    const Item& item = column.items[row];
    const std::string drawn =
        style_.bar(strength(item.score, column.scale), kColumnBar, kind_of(*column.attribution)) +
        " " + right_aligned(cell_number(item, column), column.number_width);
    const int used = kColumnBar + 1 + column.number_width;
    return drawn + std::string(static_cast<size_t>(column.width() - used), ' ');
  }

  const Explanation& explanation_;
  TerminalOptions options_;
  TerminalStyle style_;
  std::string out_;
};

}  // namespace
}  // namespace report

std::string to_terminal(const Explanation& explanation, const TerminalOptions& options) {
  report::check(explanation);
  return report::TerminalReport(explanation, options).write();
}

}  // namespace whyformer
