// Sanity checks for a terminal: methods by what was changed, and a verdict for each.
#include <fmt/format.h>

#include <algorithm>

#include "report/terminal/terminal_writer.h"
#include "report/views/heads_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"
#include "whyformer/sanity.h"

namespace whyformer {
namespace report {
namespace {

constexpr int kCell = 12;
constexpr int kWidestMethod = 26;

struct ChangeColumn {
  std::string title;
  SanityChange change = SanityChange::kCascading;
  std::string step;
};

class SanityLines : private TerminalWriter {
 public:
  SanityLines(const SanityReport& report, const TerminalOptions& options)
      : TerminalWriter(options), report_(report) {}

  std::string write() {
    bold("Sanity checks of explanations of " + model_line(report_.model));
    faint(fmt::format("{} {} · seed {} · {:.1f} s", report_.inputs, report_.kind, report_.seed,
                      report_.seconds));
    line("");
    table();
    faint_sentence(
        "Spearman's correlation with the explanation of the model as it is: of scores where they "
        "have a sign, else of |scores|. 1: the same order of units, 0: no relation. =: the same "
        "numbers on every input. Weights are replaced from the output down to the named layer.");
    for (const MethodSanity& method : report_.methods) findings(method);
    for (const Refusal& refusal : report_.refused) {
      line("");
      line(style().bold(printable(refusal.method)));
      sentence(printable(refusal.reason) + ".");
    }
    if (!report_.notes.empty()) line("");
    for (const std::string& note : report_.notes) faint_sentence(printable(note));
    if (report_.stopped_early) faint_sentence("Stopped before the end.");
    return finish();
  }

 private:
  // The head, the last layer, half of the steps, all weights, and another class; a step once.
  std::vector<ChangeColumn> columns_shown() const {
    std::vector<ChangeColumn> columns;
    const size_t count = report_.steps.size();
    size_t next = 0;
    for (const size_t step : {size_t{0}, size_t{1}, (count - 1) / 2, count - 1}) {
      if (step < next || step >= count) continue;
      const std::string& name = report_.steps[step].name;
      columns.push_back(
          {step + 1 == count ? "all weights" : printable(name), SanityChange::kCascading, name});
      next = step + 1;
    }
    columns.push_back({"other class", SanityChange::kOtherTarget, ""});
    return columns;
  }

  bool compared(const ChangeColumn& column) const {
    return std::ranges::any_of(report_.methods, [&](const MethodSanity& method) {
      return std::ranges::any_of(method.comparisons, [&](const SanityComparison& one) {
        return one.change == column.change && one.step == column.step && one.inputs > 0;
      });
    });
  }

  void table() {
    if (report_.steps.empty()) return;
    std::vector<ChangeColumn> shown = columns_shown();
    // What was not reached is no result.
    if (report_.stopped_early)
      std::erase_if(shown, [&](const ChangeColumn& c) { return !compared(c); });
    if (shown.empty()) return sentence("Stopped before anything was compared.");
    int names = 6;
    for (const MethodSanity& method : report_.methods)
      names = std::max(names, std::min(kWidestMethod, columns(printable(method.method))));
    std::string heading = left_aligned("method", names);
    for (const ChangeColumn& column : shown)
      heading += right_aligned(shortened(column.title, kCell - 1), kCell);
    line(style().faint(heading));
    for (const MethodSanity& method : report_.methods) {
      std::string row = left_aligned(shortened(printable(method.method), names), names);
      for (const ChangeColumn& column : shown) row += right_aligned(cell(method, column), kCell);
      line(row);
    }
  }

  static std::string cell(const MethodSanity& method, const ChangeColumn& column) {
    for (const SanityComparison& one : method.comparisons) {
      if (one.change != column.change || one.step != column.step || one.inputs == 0) continue;
      if (one.identical == one.inputs) return "=";
      const MeanSimilarity& shown = method.is_signed ? one.signed_scores : one.magnitudes;
      return shown.mean ? fmt::format("{:.2f}", *shown.mean) : "–";
    }
    return "–";
  }

  void findings(const MethodSanity& method) {
    line("");
    line(style().bold(printable(method.method)));
    if (method.findings.empty()) sentence("Nothing can be told.");
    for (const std::string& finding : method.findings) sentence(printable(finding));
  }

  const SanityReport& report_;
};

}  // namespace
}  // namespace report

std::string to_terminal(const SanityReport& report, const TerminalOptions& options) {
  return report::SanityLines(report, options).write();
}

}  // namespace whyformer
