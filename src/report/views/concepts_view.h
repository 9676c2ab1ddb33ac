// What reports of concept tests share.
#pragma once

#include <string>
#include <vector>

#include "whyformer/concepts.h"

namespace whyformer::report {

// Tests (and pairs) of one target at one layer.
struct ConceptGroup {
  std::string target;
  int layer = 0;
  std::vector<const ConceptTest*> tests = {};
  std::vector<const ConceptPair*> pairs = {};
};
std::vector<ConceptGroup> groups_of(const ConceptReport& report);

std::string rows_name(TokenRows rows);       // "mean"
std::string verdict_name(Verdict verdict);   // "not-learnt"
std::string verdict_words(Verdict verdict);  // "no direction"
std::string title_of(const ConceptReport& report);
std::string settings_of(const ConceptReport& report);  // counterparts, permutations, …
std::string format_spread(double score,
                          double spread);  // "0.73 ± 0.04", or "0.73 ± ?" where it is not known
std::string format_p(double p);            // "0.034", "2e-12"

}  // namespace whyformer::report
