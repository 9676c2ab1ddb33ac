#include "report/views/summary_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/views/text.h"
#include "whyformer/printable.h"

namespace whyformer::report {
namespace {

constexpr double kLongestWholeSum = 1.5;  // times the longest bar of a feature

}  // namespace

double bar_value(const Summary& summary, const SummaryRow& row) {
  return summary.order == SummaryOrder::kMean ? row.mean : row.total;
}

double largest_bar(const Summary& summary) {
  const size_t features = summary.rows.size() - (summary.others > 0 ? 1 : 0);
  double largest = 0;
  for (size_t i = 0; i < features; ++i)
    largest = std::max(largest, bar_value(summary, summary.rows[i]));
  if (summary.others == 0) return largest;
  const double sum = bar_value(summary, summary.rows.back());
  return sum <= kLongestWholeSum * largest ? std::max(largest, sum) : largest;
}

bool has_cut_bar(const Summary& summary) {
  return summary.others > 0 && bar_value(summary, summary.rows.back()) > largest_bar(summary);
}

std::string summary_title(const Summary& summary) {
  return printable(summary.method) + ": feature importance for " +
         (summary.target.empty() ? "the explained label of each input" : printable(summary.target));
}

std::string summary_facts(const Summary& summary) {
  std::string facts = summary.order == SummaryOrder::kMean ? "mean |score|" : "sum of |score|";
  if (!summary.space.empty()) facts += " in " + printable(summary.space);
  facts += " · " + quantity(summary.instances, "input");
  if (summary.left_out > 0)
    facts += fmt::format(" · {} scores are not a number and left out", summary.left_out);
  return facts + " · " + printable(summary.model.name);
}

std::string format_bar(double value, double largest) {
  if (largest > 0 && (largest < 1e-5 || largest >= 1e7)) return fmt::format("{:+.2e}", value);
  const int decimals =
      largest >= 0.1 || largest <= 0 ? 2 : static_cast<int>(2 - std::floor(std::log10(largest)));
  return fmt::format("{:+.{}f}", value, decimals);
}

Colour level_colour(const Palette& palette, double level) {
  constexpr double kFaintest = 0.35;
  return attention_colour(palette, kFaintest + (1 - kFaintest) * level);
}

bool is_of_table(const Summary& summary) {
  return std::ranges::any_of(summary.rows, [](const SummaryRow& row) {
    return std::ranges::any_of(row.points, [](const SummaryPoint& point) {
      return point.level || point.category || point.missing;
    });
  });
}

}  // namespace whyformer::report
