#include "report/views/concepts_view.h"
#include "report/views/model_title.h"

#include <fmt/format.h>

#include <cmath>

#include "report/views/text.h"

namespace whyformer::report {

std::vector<ConceptGroup> groups_of(const ConceptReport& report) {
  std::vector<ConceptGroup> groups;
  for (const ConceptTest& test : report.tests) {
    if (groups.empty() || groups.back().target != test.target ||
        groups.back().layer != test.layer) {
      groups.push_back({test.target, test.layer});
    }
    groups.back().tests.push_back(&test);
  }
  for (ConceptGroup& group : groups) {
    for (const ConceptPair& pair : report.pairs) {
      if (pair.target == group.target && pair.layer == group.layer) group.pairs.push_back(&pair);
    }
  }
  return groups;
}

std::string rows_name(TokenRows rows) {
  switch (rows) {
    case TokenRows::kFirst:
      return "first";
    case TokenRows::kLast:
      return "last";
    case TokenRows::kMean:
      return "mean";
    case TokenRows::kAll:
      return "all";
  }
  return {};
}

std::string verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSignificant:
      return "significant";
    case Verdict::kNotSignificant:
      return "not-significant";
    case Verdict::kNotLearnt:
      return "not-learnt";
    case Verdict::kUndefined:
      return "undefined";
  }
  return {};
}

std::string verdict_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSignificant:
      return "significant";
    case Verdict::kNotSignificant:
      return "not significant";
    case Verdict::kNotLearnt:
      return "no direction";
    case Verdict::kUndefined:
      return "undefined";
  }
  return {};
}

std::string title_of(const ConceptReport& report) {
  return printable("Concepts in " + model_title(report.model));
}

std::string settings_of(const ConceptReport& report) {
  int64_t random = 0;
  for (const auto& [name, count] : report.random) random += count;
  return fmt::format(
      "{} random {} · {} counterparts · {} permutations · {} of the tokens · C {:g} · seed {}",
      random, report.unit, report.counterparts, report.permutations, rows_name(report.rows),
      report.strength, report.seed);
}

std::string format_spread(double score, double spread) {
  return fmt::format("{:.2f} ± {}", score,
                     std::isfinite(spread) ? fmt::format("{:.2f}", spread) : "?");
}

std::string format_p(double p) {
  if (p >= 0.001) return fmt::format("{:.3f}", p);
  return p > 0 ? fmt::format("{:.0e}", p) : "0";
}

}  // namespace whyformer::report
