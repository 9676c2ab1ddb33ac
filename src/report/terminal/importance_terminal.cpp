#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "whyformer/importance.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {

// A bar for each column, the most important first.
std::string to_terminal(const ImportanceReport& report) {
  constexpr int kWidth = 30;
  std::vector<ColumnImportance> columns = report.columns;
  std::stable_sort(columns.begin(), columns.end(),
                   [](const auto& a, const auto& b) { return a.value > b.value; });
  size_t longest = 0;
  double most = 0;
  for (ColumnImportance& column : columns) {
    column.name = printable(column.name);
    longest = std::max(longest, column.name.size());
    most = std::max(most, std::abs(column.value));
  }
  std::string text =
      report.method == "sage"
          ? fmt::format("{}: all columns together save {:.4g} of {} ({} rows)\n\n",
                        printable(report.model.name), report.whole, report.score, report.rows)
          : fmt::format("{}: {} {:.4g} on {} rows; it falls by\n\n", printable(report.model.name),
                        report.score, report.whole, report.rows);
  for (const ColumnImportance& column : columns) {
    std::string bar;
    const int steps =
        most > 0 ? static_cast<int>(std::lround(kWidth * std::abs(column.value) / most)) : 0;
    for (int i = 0; i < steps; ++i) bar += column.value < 0 ? "░" : "█";
    const std::string error =
        std::isfinite(column.error) ? fmt::format("{:.4f}", column.error) : "?";
    text += fmt::format("  {:>{}}  {:>+9.4f} ± {:<7} {}\n", column.name, longest, column.value,
                        error, bar);
  }
  text += fmt::format("\n  {}, seed {}, {} rows predicted in {:.3g} s\n", report.method,
                      report.seed, report.evaluations, report.seconds);
  for (const std::string& note : report.notes) text += "  " + printable(note) + "\n";
  return text;
}

}  // namespace whyformer
