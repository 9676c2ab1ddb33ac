// Concept tests for a terminal: a bar with its spread per concept, and what the tests say.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/terminal/terminal_writer.h"
#include "report/views/concepts_view.h"
#include "report/views/text.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr int kWidestName = 20;
constexpr int kWidestBar = 30;
constexpr int kNumbers = 14;  // "  0.97 ± 0.02 "
constexpr int kHeldOut = 9;   // "held out", a blank
constexpr int kPs = 18;       // "t-test   permut.  "
constexpr int kVerdict = 15;  // "not significant"

class ConceptsReport : private TerminalWriter {
 public:
  ConceptsReport(const ConceptReport& found, const TerminalOptions& options)
      : TerminalWriter(options), found_(found) {
    for (const auto& [name, count] : found.concepts)
      widest_ = std::max(widest_, columns(printable(name)));
    for (const ConceptPair& pair : found.pairs)
      widest_ = std::max(widest_, columns(pair_name(pair)));
    widest_ = std::min({widest_, kWidestName, width() / 3});
    const int fixed = 2 + widest_ + kNumbers;
    // What a narrow terminal has no room for: first the held-out accuracy, then the p-values; JSON
    // has all.
    const auto fits = [&](int more) { return fixed + more + kVerdict + 8 <= width(); };
    shows_ps_ = fits(kPs);
    shows_held_out_ = fits(kPs + kHeldOut);
    const int rest = (shows_ps_ ? kPs : 0) + (shows_held_out_ ? kHeldOut : 0) + kVerdict + 1;
    bar_ = std::clamp(width() - fixed - rest, 0, kWidestBar);
    shows_verdict_ = fixed + bar_ + rest <= width();
  }

  std::string write() {
    bold(title_of(found_));
    faint_sentence(settings_of(found_));
    for (const ConceptGroup& group : groups_of(found_)) write(group);
    line("");
    faint_sentence(
        fmt::format("Score: share of the target's examples whose logit rises along the concept; ± "
                    "its spread over counterparts. Significant: both tests below {:g} after "
                    "Benjamini–Hochberg over {}.",
                    found_.level, quantity(std::ssize(found_.tests), "test")));
    for (const std::string& note : found_.notes) faint_sentence(note);
    faint_sentence(fmt::format("{} runs {:.1f} s · {} fits {:.1f} s · layer 0 is nearest the input",
                               found_.runs, found_.run_seconds, found_.fits, found_.fit_seconds));
    return finish();
  }

 private:
  static std::string pair_name(const ConceptPair& pair) {
    return printable(pair.concept_name + " – " + pair.against);
  }

  void write(const ConceptGroup& group) {
    line("");
    int64_t examples = 0;
    for (const auto& [name, count] : found_.targets) {
      if (name == group.target) examples = count;
    }
    const std::string heading = printable(group.target) + fmt::format(", layer {}", group.layer);
    line(style().bold(shortened(heading, width() - 16)) + "  " +
         style().faint(shortened(fmt::format("{} {}", examples, found_.unit), 14)));
    std::string columns_line =
        "  " + left_aligned("", widest_) + left_aligned("  score", kNumbers + bar_ + 1);
    if (shows_held_out_) columns_line += left_aligned("held out", kHeldOut);
    if (shows_ps_)
      columns_line += left_aligned("t-test", kPs / 2) + left_aligned("permut.", kPs / 2);
    line(style().faint(columns_line));
    for (const ConceptTest* test : group.tests) write(*test);
    write_random(*group.tests[0]);
    if (group.pairs.empty()) return;
    line(style().faint("  concept against concept"));
    for (const ConceptPair* pair : group.pairs) write(*pair);
  }

  std::string name_cell(const std::string& name) const {
    return "  " + left_aligned(shortened(name, widest_), widest_);
  }

  static std::string score_cell(double score, double spread) {
    return left_aligned("  " + format_spread(score, spread), kNumbers);
  }

  // A bar from 0 to 1 whose end is the score and whose whisker reaches one spread to either side.
  std::string bar_cell(double score, double spread, double strength) const {
    if (bar_ < 4) return std::string(static_cast<size_t>(bar_ + 1), ' ');
    const auto cell = [&](double value) {
      return std::clamp(static_cast<int>(std::lround(value * bar_)), 0, bar_);
    };
    if (!std::isfinite(spread)) spread = 0;
    const int end = cell(score), from = cell(score - spread), to = cell(score + spread);
    std::string inside, whisker;
    for (int i = 0; i < end; ++i) inside += i >= from ? "▓" : "█";
    for (int i = end; i < to; ++i) whisker += i + 1 == to ? "┤" : "─";
    for (int i = std::max(to, end); i < bar_; ++i) whisker += "·";
    const std::string painted = inside.empty() ? "" : painted_as(inside, strength);
    return painted + style().faint(whisker) + " ";
  }

  std::string painted_as(const std::string& text, double strength) const {
    if (!style().colour || strength == 0) return text;
    const Colour paint = mix(hue(kLightPalette, strength, ScoreKind::kSigned),
                             hue(kDarkPalette, strength, ScoreKind::kSigned), 0.5);
    return fmt::format("\x1b[38;5;{}m{}\x1b[0m", xterm_colour(paint), text);
  }

  void write(const ConceptTest& test) {
    const bool learnt = test.verdict != Verdict::kNotLearnt;
    std::string text = name_cell(printable(test.concept_name));
    if (learnt) {
      text += score_cell(test.mean.score, test.deviation) +
              bar_cell(test.mean.score, test.deviation, test.mean.score >= 0.5 ? 1 : -1);
    } else {
      text += left_aligned("  –", kNumbers + bar_ + 1);
    }
    if (shows_held_out_)
      text += left_aligned(fmt::format("{:.0f} %", 100 * test.held_out.accuracy), kHeldOut);
    if (shows_ps_)
      text +=
          learnt ? p_cell(test.t_test) + p_cell(test.magnitude_permutation) : std::string(kPs, ' ');
    if (shows_verdict_) {
      const std::string words = verdict_words(test.verdict);
      text += test.verdict == Verdict::kSignificant ? style().bold(words) : style().faint(words);
    }
    line(text);
  }

  static std::string p_cell(const std::optional<CorrectedP>& p) {
    return left_aligned(p ? format_p(p->benjamini_hochberg) : "–", kPs / 2);
  }

  void write_random(const ConceptTest& test) {
    line(style().faint(name_cell("random") + score_cell(test.random_mean, test.random_deviation)) +
         bar_cell(test.random_mean, test.random_deviation, 0));
  }

  void write(const ConceptPair& pair) {
    std::string text = name_cell(pair_name(pair));
    if (pair.learnt) {
      const double score = pair.sensitivity.score;
      text += score_cell(score, pair.standard_error) +
              bar_cell(score, pair.standard_error, score >= 0.5 ? 1 : -1);
    } else {
      text += left_aligned("  –", kNumbers + bar_ + 1);
    }
    if (shows_held_out_)
      text += left_aligned(fmt::format("{:.0f} %", 100 * pair.held_out.accuracy), kHeldOut);
    if (!pair.learnt && shows_verdict_) {
      text += std::string(shows_ps_ ? kPs : 0, ' ') + style().faint("no direction");
    }
    line(text);
  }

  const ConceptReport& found_;
  int widest_ = 6;  // "random"
  int bar_ = 0;
  bool shows_ps_ = true, shows_held_out_ = true, shows_verdict_ = true;
};

}  // namespace
}  // namespace report

std::string to_terminal(const ConceptReport& found, const TerminalOptions& options) {
  return report::ConceptsReport(found, options).write();
}

}  // namespace whyformer
