// An explanation for a terminal: the prediction, the text in colours, and bars of the top words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/terminal/picture_terminal.h"
#include "report/terminal/row_terminal.h"
#include "report/terminal/stream_terminal.h"
#include "report/terminal/terminal_estimate.h"
#include "report/terminal/terminal_style.h"
#include "report/terminal/terminal_table.h"
#include "report/terminal/terminal_text.h"
#include "report/views/picture_view.h"
#include "report/views/row_agreement.h"
#include "report/views/row_view.h"
#include "report/views/text.h"
#include "report/views/trust_view.h"
#include "report/views/view.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr int kWidestBar = 40;
constexpr int kNarrowestLabel = 12;
constexpr int kNarrowestTerminal = 44;

class TerminalReport {
 public:
  TerminalReport(const Explanation& explanation, const TerminalOptions& options)
      : explanation_(explanation),
        options_(options),
        style_{options.colour},
        is_row_(is_row(explanation)) {
    options_.width = std::max(options_.width, kNarrowestTerminal);
  }

  std::string write() {
    prediction();
    const std::vector<Attribution>& methods = explanation_.attributions;
    if (is_row_) lines(row_lines(explanation_, options_));
    if (const std::string agreement = is_row_ ? row_agreement_sentence(explanation_) : "";
        !agreement.empty()) {
      lines({""});
      lines(wrapped_sentence(agreement, options_.width));
    }
    if (methods.empty()) {
      lines({""});
      if (!is_row_) lines(plain_lines(explanation_, options_));
      lines({"", style_.faint("No method was run.")});
    }
    for (const Attribution& attribution : methods) method(attribution);
    if (methods.size() > 1 && !is_row_) lines(side_by_side_lines(explanation_, options_));
    lines({""});
    legend();
    const std::string hidden =
        is_row_ ? "" : hidden_tokens_sentence(explanation_, options_.special);
    sentences(hidden, explanation_.notes);
    sentences("", trust_setting_lines(explanation_));
    while (out_.ends_with("\n\n")) out_.pop_back();
    return std::move(out_);
  }

 private:
  void lines(const std::vector<std::string>& list) {
    for (const std::string& line : list) out_ += line + "\n";
  }

  // What the colours mean, in the colours.
  void legend() {
    bool is_signed = false;
    bool is_magnitude = false;
    for (const Attribution& attribution : explanation_.attributions) {
      (attribution.is_signed ? is_signed : is_magnitude) = true;
    }
    std::string line;
    if (options_.colour) {
      if (is_signed) {
        line += "  " + style_.heat(" for the target ", 1, ScoreKind::kSigned) + " " +
                style_.heat(" against it ", -1, ScoreKind::kSigned);
      }
      if (is_magnitude) line += "  " + style_.heat(" strength ", 1, ScoreKind::kMagnitude);
    } else if (is_signed || is_magnitude) {
      line = is_signed ? "  ▁▂▃▄▅▆▇█ for the target  ░▒▓ against it" : "  ▁▂▃▄▅▆▇█ strength";
    }
    if (!line.empty()) lines({line});
    if (explanation_.attributions.size() > 1) sentences("Each method has its own scale.", {});
  }

  void sentences(const std::string& first, const std::vector<std::string>& others) {
    std::vector<std::string> all = others;
    if (!first.empty()) all.insert(all.begin(), first);
    for (const std::string& sentence : all) {
      for (const std::string& line : wrapped_sentence(sentence, options_.width)) {
        lines({style_.faint(line)});
      }
    }
  }

  // `remark` is dropped where it would leave too little of the label.
  void answer_line(const char* verb, const LabelValue& answer, std::string remark) {
    const int bar_width = options_.width / 4;
    int room = options_.width - columns(verb) - 1 - 2 - bar_width - 8;
    if (room - columns(remark) < kNarrowestLabel) remark.clear();
    room -= columns(remark);
    std::string line =
        fmt::format("{} {}  ", verb, style_.bold(shortened(printable(answer.label), room)));
    if (answer.probability) {
      line += style_.bar(strength(*answer.probability, 1), bar_width, ScoreKind::kSigned) + " " +
              format_percent(*answer.probability);
    } else {
      line += format_score(answer.value, std::abs(answer.value), ScoreKind::kMagnitude);
    }
    lines({line + remark});
  }

  void prediction() {
    const std::vector<LabelValue> answers = best_labels(explanation_, 2);
    const LabelValue target = target_label(explanation_);
    if (answers.empty()) {
      answer_line("Explained", target, fmt::format("  ({})", printable(explanation_.output.space)));
    } else if (answers.front().is_target) {
      answer_line("Predicted", target, "");
    } else {
      answer_line("Predicted", answers.front(), "");
      answer_line("Explained", target, "  (not the prediction)");
    }
    const ModelName& model = explanation_.model;
    const size_t count = is_row_ ? row_columns(explanation_).size() : explanation_.units.size();
    std::string counts =
        " · " + quantity(static_cast<int64_t>(count), is_row_ ? unit_word(explanation_) : "token");
    if (answers.size() > 1)
      counts += fmt::format(" · {} labels", explanation_.output.values.size());
    const std::string name = printable(fmt::format("{} ({})", model.name, model.architecture));
    lines({style_.faint(shortened(name, options_.width - columns(counts)) + counts)});
  }

  void method(const Attribution& attribution) {
    const std::string name = shortened(printable(attribution.method), options_.width);
    lines({"", style_.bold(name)});
    for (const std::string& line : wrapped_sentence(cost_line(attribution), options_.width)) {
      lines({style_.faint(line)});
    }
    if (!is_row_) lines(heat_lines(explanation_, attribution, options_));
    estimate(attribution);
    if (explanation_.attributions.size() == 1 && !is_row_) {
      lines({""});
      bars(attribution);
    }
    remarks(attribution);
  }

  void estimate(const Attribution& attribution) {
    const std::string line = estimate_line(attribution);
    if (!line.empty()) lines(wrapped_sentence(line, options_.width));
    const auto bar = is_row_ ? std::nullopt : force_bar(explanation_, attribution);
    if (bar) lines(force_lines(*bar, options_));
    if (const auto interactions = interactions_of(explanation_, attribution)) {
      sentences(fmt::format("Pairwise interactions, beyond the effects of each {} alone:",
                            is_row_ ? "column" : "token"),
                {});
      lines(pair_lines(*interactions, options_));
    }
  }

  void remarks(const Attribution& attribution) {
    const double scale = scale_of(explanation_, attribution, options_.special).items;
    std::string first;
    const bool broken = std::any_of(attribution.scores.begin(), attribution.scores.end(),
                                    [](double score) { return !std::isfinite(score); });
    if (broken && is_row_) {
      first = "Columns with – have no score by this method.";
    } else if (broken) {
      first = "Some scores are missing or not a number (–); they are not coloured.";
    } else if (scale == 0) {
      first = "All scores are zero.";
    }
    for (const std::string& line : trust_lines(attribution)) {
      lines(wrapped_sentence(line, options_.width));
    }
    sentences(first, attribution.notes);
    if (attribution.trust) sentences("", attribution.trust->notes);
  }

  void bars(const Attribution& attribution) {
    const std::vector<Item> items = items_of(explanation_, attribution, options_.special);
    const double scale = scale_of(explanation_, attribution, options_.special).items;
    const std::vector<size_t> top = strongest(items, kMostBars);
    int label_width = 0;
    int number_width = 0;
    for (const size_t i : top) {
      label_width =
          std::max(label_width, std::min(kWidestLabel, columns(printable(items[i].text))));
      number_width = std::max(number_width, columns(number(items[i], scale, attribution)));
    }
    const int bar_width = std::min(kWidestBar, options_.width - label_width - number_width - 6);
    for (const size_t i : top) {
      lines(
          {fmt::format("  {}  {}  {}",
                       right_aligned(shortened(printable(items[i].text), label_width), label_width),
                       style_.bar(strength(items[i].score, scale), bar_width, kind_of(attribution)),
                       right_aligned(number(items[i], scale, attribution), number_width))});
    }
    if (items.size() > top.size()) {
      lines({style_.faint(fmt::format("  and {} more", items.size() - top.size()))});
    }
  }

  std::string number(const Item& item, double scale, const Attribution& attribution) const {
    if (std::isnan(item.score)) return "–";
    const std::string error = format_error(item.error, scale);
    return format_score(item.score, scale, kind_of(attribution)) +
           (error.empty() ? "" : " " + error);
  }

  const Explanation& explanation_;
  TerminalOptions options_;
  TerminalStyle style_;
  bool is_row_;  // of a table: its columns stand in one table with the scores of all methods
  std::string out_;
};

}  // namespace
}  // namespace report

std::string to_terminal(const Explanation& explanation, const TerminalOptions& options) {
  check_explanation(explanation);
  if (has_grid(explanation)) {
    return report::picture_terminal(report::layout_of({&explanation, 1}), options);
  }
  if (!explanation.streams.empty()) return report::stream_terminal(explanation, options);
  return report::TerminalReport(explanation, options).write();
}

std::string to_terminal(std::span<const Explanation> explanations, const TerminalOptions& options) {
  if (explanations.size() == 1) return to_terminal(explanations.front(), options);
  report::check_pictures(explanations);
  return report::picture_terminal(report::layout_of(explanations), options);
}

}  // namespace whyformer
