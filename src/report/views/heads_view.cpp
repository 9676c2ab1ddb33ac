#include "report/views/heads_view.h"
#include "report/views/model_title.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/views/text.h"
#include "report/views/view.h"
#include "whyformer/error.h"

namespace whyformer::report {

void check(const HeadImportance& importance) {
  for (const HeadScores& scores : importance.measures) {
    const HeadGrid& first = importance.measures.front().values;
    const bool fits =
        std::equal(first.begin(), first.end(), scores.values.begin(), scores.values.end(),
                   [](const auto& a, const auto& b) { return a.size() == b.size(); });
    if (fits && head_count(first) > 0) continue;
    throw InvalidInput(fmt::format("report of heads: '{}' scores {} heads but '{}' scores {}",
                                   scores.measure, head_count(scores.values),
                                   importance.measures.front().measure, head_count(first)));
  }
}

double largest_score(const HeadGrid& grid) {
  double most = 0;
  for (const std::vector<double>& layer : grid) {
    for (const double score : layer) {
      if (std::isfinite(score)) most = std::max(most, score);
    }
  }
  return most;
}

size_t most_heads(const HeadGrid& grid) {
  size_t most = 0;
  for (const std::vector<double>& layer : grid) most = std::max(most, layer.size());
  return most;
}

size_t head_count(const HeadGrid& grid) {
  size_t count = 0;
  for (const std::vector<double>& layer : grid) count += layer.size();
  return count;
}

std::vector<HeadName> ranked(const HeadGrid& grid) {
  std::vector<HeadName> names;
  for (size_t layer = 0; layer < grid.size(); ++layer) {
    for (size_t head = 0; head < grid[layer].size(); ++head) {
      names.push_back({static_cast<int>(layer), static_cast<int>(head)});
    }
  }
  const auto score = [&](const HeadName& name) {
    const double value = grid[name.layer][name.head];
    return std::isnan(value) ? -INFINITY : value;
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const HeadName& a, const HeadName& b) { return score(a) > score(b); });
  return names;
}

std::string format_cell(double score, double scale) {
  if (!std::isfinite(score)) return std::isnan(score) ? "NaN" : "inf";
  if (scale <= 0) return fmt::format("{:.3g}", score);
  if (scale >= 1e4 || scale < 1e-2) return fmt::format("{:.1e}", score);
  const int decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(scale))), 0, 3);
  return fmt::format("{:.{}f}", score, decimals);
}

std::string model_line(const ModelName& model) { return printable(model_title(model)); }

std::string corpus_line(const HeadImportance& importance) {
  std::string_view examples = importance.kind;
  if (importance.examples == 1 && examples.ends_with('s')) examples.remove_suffix(1);
  return fmt::format("{} {} · {} tokens", importance.examples, examples, importance.tokens);
}

std::string options_line(const HeadScores& scores) {
  std::string line;
  for (const auto& [name, value] : scores.options) {
    line += (line.empty() ? "" : " · ") + name + "=" + format_option(value);
  }
  return line;
}

}  // namespace whyformer::report
