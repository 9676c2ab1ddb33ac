#include "whyformer/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "explanation/label_names.h"
#include "explanation/panels.h"
#include "explanation/text_pieces.h"
#include "studies/summary/interactions.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr const char* kSpecialTokens = "special tokens";
constexpr double kLargestScore = 1e300;  // sums and differences of larger ones are not finite

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \n\t\r");
  if (first == std::string::npos) return text;
  return text.substr(first, text.find_last_not_of(" \n\t\r") - first + 1);
}

const Attribution& attribution_of(const Explanation& explanation, const std::string& method) {
  const std::vector<Attribution>& all = explanation.attributions;
  if (method.empty()) {
    if (all.size() == 1) return all.front();
    throw InvalidInput(fmt::format(
        "summary: an explanation has {} methods; name the one to summarise", all.size()));
  }
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Attribution& one) { return one.method == method; });
  if (found != all.end()) return *found;
  throw InvalidInput(fmt::format(
      "summary: an explanation has no scores by '{}'; run that method on all inputs", method));
}

class SummaryCollector {
 public:
  SummaryCollector(std::span<const Explanation> explanations, const std::string& method,
                   const SummaryOptions& options)
      : options_(options) {
    if (explanations.empty())
      throw InvalidInput("summary: there is nothing to summarise; give explanations");
    if (options.rows < 2) throw InvalidInput("summary: at least two rows must be shown");
    const Explanation& first = explanations.front();
    const Attribution& named = attribution_of(first, method);
    summary_ = {.model = first.model,
                .method = named.method,
                .target = target_name(first),
                .space = named.estimate ? named.estimate->space : "",
                .is_signed = named.is_signed,
                .order = options.order,
                .rows = {}};
    for (const Explanation& explanation : explanations) add(explanation);
  }

  Summary finish() {
    for (SummaryRow& row : summary_.rows) {
      set_levels(row);
      for (const SummaryPoint& point : row.points) row.total += std::abs(point.score);
      row.mean = row.total / static_cast<double>(row.points.size());
    }
    std::stable_sort(
        summary_.rows.begin(), summary_.rows.end(),
        [&](const SummaryRow& a, const SummaryRow& b) { return weight(a) > weight(b); });
    if (static_cast<int64_t>(summary_.rows.size()) > options_.rows) sum_others();
    find_interactions(summary_);
    for (const Remark& remark : remarks_) {
      summary_.notes.push_back(remark.inputs == summary_.instances
                                   ? remark.first
                                   : fmt::format("{} of {} inputs: {}", remark.inputs,
                                                 summary_.instances, remark.first));
    }
    return std::move(summary_);
  }

 private:
  double weight(const SummaryRow& row) const {
    return options_.order == SummaryOrder::kMean ? row.mean : row.total;
  }

  void add(const Explanation& explanation) {
    check_explanation(explanation);
    if (has_grid(explanation)) {
      throw InvalidInput(
          "summary: patches of different pictures have nothing in common; give texts or rows of a "
          "table");
    }
    const Attribution& attribution = attribution_of(explanation, summary_.method);
    collect_notes(explanation, attribution);
    if (target_name(explanation) != summary_.target) summary_.target.clear();
    const std::vector<TextPiece> pieces = pieces_of(explanation);
    const bool of_columns = std::ranges::any_of(
        explanation.units, [](const Unit& unit) { return !unit.column.empty(); });
    for (size_t i = 0; i < explanation.units.size(); ++i) {
      const Unit& unit = explanation.units[i];
      if (unit.special && of_columns) continue;  // a class token is no feature of a table
      if (!(std::abs(attribution.scores[i]) <= kLargestScore)) {
        ++summary_.left_out;
        continue;
      }
      const std::string name = unit.special           ? kSpecialTokens
                               : !unit.column.empty() ? unit.column
                                                      : trimmed(pieces[i].text);
      row_named(name, unit.special)
          .points.push_back({.score = attribution.scores[i],
                             .instance = summary_.instances,
                             .value = unit.value,
                             .cell = unit.cell,
                             .category = unit.category,
                             .missing = unit.missing});
    }
    ++summary_.instances;
  }

  // Notes that differ in their numbers alone are one, and the first of them stands for all.
  void collect_notes(const Explanation& explanation, const Attribution& attribution) {
    std::set<std::string> own;
    for (const std::vector<std::string>* notes : {&explanation.notes, &attribution.notes}) {
      for (const std::string& note : *notes) {
        std::string kind = note;
        std::erase_if(kind, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; });
        if (!own.insert(kind).second) continue;
        const auto [place, is_new] = kinds_.try_emplace(kind, remarks_.size());
        if (is_new) remarks_.push_back({note, 0});
        ++remarks_[place->second].inputs;
      }
    }
  }

  // A word of the text that reads like the row of special tokens is another feature.
  SummaryRow& row_named(const std::string& name, bool special) {
    const auto [place, is_new] = rows_.try_emplace({name, special}, summary_.rows.size());
    if (is_new) summary_.rows.push_back({.name = name});
    return summary_.rows[place->second];
  }

  // Categories have no order, and missing cells no value.
  static void set_levels(SummaryRow& row) {
    const auto has_place = [](const SummaryPoint& point) {
      return !point.category && !point.missing;
    };
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (const SummaryPoint& point : row.points) {
      if (!has_place(point)) continue;
      if (!point.value || !std::isfinite(*point.value)) return;
      least = std::min(least, *point.value);
      most = std::max(most, *point.value);
    }
    for (SummaryPoint& point : row.points) {
      if (!has_place(point)) continue;
      point.level = most > least ? (*point.value - least) / (most - least) : 0.5;
    }
  }

  void sum_others() {
    const auto kept = static_cast<size_t>(options_.rows - 1);
    SummaryRow rest;
    std::map<int64_t, double> sums;  // by instance
    for (size_t i = kept; i < summary_.rows.size(); ++i) {
      rest.mean += summary_.rows[i].mean;
      rest.total += summary_.rows[i].total;
      for (const SummaryPoint& point : summary_.rows[i].points) sums[point.instance] += point.score;
    }
    for (const auto& [instance, score] : sums)
      rest.points.push_back({.score = score, .instance = instance});
    summary_.others = static_cast<int64_t>(summary_.rows.size() - kept);
    rest.name = fmt::format("Sum of {} other features", summary_.others);
    const auto first = summary_.rows.begin() + static_cast<ptrdiff_t>(kept);
    summary_.summed.assign(std::make_move_iterator(first),
                           std::make_move_iterator(summary_.rows.end()));
    summary_.rows.resize(kept);
    summary_.rows.push_back(std::move(rest));
  }

  SummaryOptions options_;
  Summary summary_;
  std::map<std::pair<std::string, bool>, size_t> rows_;
  struct Remark {
    std::string first;
    int64_t inputs = 0;
  };
  std::vector<Remark> remarks_;
  std::map<std::string, size_t> kinds_;  // places of remarks_
};

}  // namespace

Summary summarise(std::span<const Explanation> explanations, const std::string& method,
                  const SummaryOptions& options) {
  return SummaryCollector(explanations, method, options).finish();
}

}  // namespace whyformer
