#include "report/views/patch_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "report/views/heads_view.h"
#include "report/views/text.h"

namespace whyformer::report {
namespace {

std::string summary_of(const std::string& kind) {
  for (const PatchKindInfo& info : patch_kinds()) {
    if (info.name == kind) return kind + ": " + info.summary;
  }
  return kind;
}

std::string quoted(const Explanation& shown) {
  return "“" + printable(shown.text) + (shown.pair ? "” and “" + printable(*shown.pair) : "") + "”";
}

}  // namespace

PatchTable patch_table(const PatchReport& report, const EffectGrid& grid) {
  const bool tokens_down = grid.column_axis == "token";
  PatchTable table{.title = summary_of(grid.kind)};
  table.down = tokens_down ? grid.column_axis : grid.row_axis;
  table.across = tokens_down ? grid.row_axis : grid.column_axis;
  table.rows = tokens_down ? grid.columns : grid.rows;
  table.columns = tokens_down ? grid.rows : grid.columns;
  const auto lay = [&](const std::vector<double>& cells) {
    std::vector<std::vector<double>> laid(table.rows.size());
    for (size_t row = 0; row < table.rows.size(); ++row) {
      for (size_t column = 0; column < table.columns.size(); ++column) {
        laid[row].push_back(tokens_down ? cells[column * grid.columns.size() + row]
                                        : cells[row * grid.columns.size() + column]);
      }
    }
    return laid;
  };
  table.cells = lay(grid.effects);
  if (!grid.errors.empty()) table.errors = lay(grid.errors);
  for (const double cell : grid.effects) {
    if (std::isfinite(cell)) table.largest = std::max(table.largest, std::abs(cell));
  }
  // Shares of a gap have a full colour where the gap is closed.
  table.scale = report.effects_are_shares ? std::max(table.largest, 1.0) : table.largest;
  return table;
}

std::string short_patch_title(const std::string& name) {
  if (!name.starts_with("layer ")) return printable(name);
  std::string title = name.substr(std::string_view("layer ").size());
  constexpr std::string_view kHead = " head ";
  if (const size_t head = title.find(kHead); head != title.npos)
    title.replace(head, kHead.size(), ".");
  return title;
}

std::vector<PatchExtreme> strongest_patches(const EffectGrid& grid, size_t limit) {
  std::vector<size_t> order;
  for (size_t cell = 0; cell < grid.effects.size(); ++cell) {
    if (std::isfinite(grid.effects[cell])) order.push_back(cell);
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::abs(grid.effects[a]) > std::abs(grid.effects[b]);
  });
  order.resize(std::min(order.size(), limit));
  std::vector<PatchExtreme> strongest;
  for (const size_t cell : order) {
    strongest.push_back({grid.rows[cell / grid.columns.size()],
                         grid.columns[cell % grid.columns.size()], grid.effects[cell]});
  }
  return strongest;
}

std::string patch_title(const PatchReport& report) {
  std::string analysis = report.analysis;
  analysis[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(analysis[0])));
  return analysis + " of " + model_line(report.model);
}

std::vector<std::string> patch_facts(const PatchReport& report) {
  const std::string metric =
      report.metric + " of " + printable(report.target) +
      (report.against.empty() ? "" : " less that of " + printable(report.against));
  const bool compares = report.corrupted_value.has_value();
  std::vector<std::string> facts{fmt::format("{}{}: {} {:.4g}", compares ? "clean " : "",
                                             quoted(report.clean), metric, report.clean_value)};
  if (report.corrupted)
    facts.push_back(
        fmt::format("corrupted {}: {:.4g}", quoted(*report.corrupted), *report.corrupted_value));
  else if (compares)
    facts.push_back(fmt::format("corrupted by noise: {:.4g}", *report.corrupted_value));
  facts.push_back(fmt::format(
      "{} forward{} · {:.3g} s", report.cost.forwards,
      report.cost.backwards > 0 ? fmt::format(" · {} backward", report.cost.backwards) : "",
      report.cost.seconds));
  return facts;
}

std::string patch_meaning(const PatchReport& report) {
  if (report.analysis == "logit lens")
    return "Each cell is the metric that the model's head gives for the stream behind that layer; "
           "of a token: with its vector in the place of all.";
  if (report.analysis == "head ablation") {
    return report.grids[0].kind == "zero"
               ? "Each cell is the change of the metric without that head's context."
               : "Each cell is the change of the metric with that head's context replaced by its "
                 "mean over the tokens.";
  }
  if (report.effects_are_shares)
    return "Each cell is the share of the gap that one patch closes: 1 restores the clean answer, "
           "0 changes nothing.";
  return "Each cell is the change of the metric that one patch makes.";
}

std::string preview_words(const EffectGrid& grid) {
  if (grid.previews.empty()) return "";
  return grid.preview_rank
             ? fmt::format(
                   "Spearman's correlation of first-order estimates, from one backward walk, with "
                   "the cells that were run: {:.2f}.",
                   *grid.preview_rank)
             : "First-order estimates cannot be compared: too few cells differ.";
}

std::string format_effect(double effect, double largest) {
  if (!std::isfinite(effect)) return "–";
  if (effect == 0) return "0";
  // Two decimals of numbers around 1, more of smaller ones.
  const double places = 2 - std::floor(std::log10(std::max(largest, 1e-12)) + 0.3);
  std::string text = fmt::format("{:.{}f}", effect, std::clamp(static_cast<int>(places), 0, 6));
  const bool is_zero = text.find_first_of("123456789") == text.npos;
  return is_zero && text.starts_with('-') ? text.substr(1) : text;
}

}  // namespace whyformer::report
