#include <fmt/format.h>

#include <cmath>

#include "whyformer/printable.h"
#include "whyformer/relevance.h"
#include "whyformer/report.h"

namespace whyformer {

// Steps that only move relevance have nothing to tell; those that lose some are marked.
std::string to_terminal(const RelevanceReport& report) {
  std::string text =
      fmt::format("relevance of \"{}\" by the policy {}: starts with {:.4g}\n\n",
                  printable(report.target.label), printable(report.policy), report.seed);
  text += fmt::format("{:>12}{:>12}{:>12}  {:<11}{:<17}{}\n", "entering", "leaving", "size out",
                      "operator", "rule", "node");
  for (const RelevanceStep& step : report.steps) {
    if (step.rule == "move") continue;
    const double loss = step.loss();
    std::string mark;
    if (std::abs(loss) > 1e-4) {
      mark = fmt::format("  {} {:.2g} %", loss > 0 ? "loses" : "adds", 100 * std::abs(loss));
    }
    text +=
        fmt::format("{:>12.4g}{:>12.4g}{:>12.4g}  {:<11}{:<17}{}{}\n", step.entering, step.leaving,
                    step.leaving_magnitude, step.op, step.rule, printable(step.node), mark);
  }
  text += fmt::format("\nat the first layer {:.6g}, at the word vectors {:.6g}\n",
                      report.at_first_layer, report.at_words);
  for (const std::string& note : report.notes) text += fmt::format("note: {}\n", printable(note));
  return text;
}

}  // namespace whyformer
