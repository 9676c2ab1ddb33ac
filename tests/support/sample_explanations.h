// Made-up explanations for the tests of reports: plain, large, foreign, broken and hostile.
#pragma once

#include <string>
#include <vector>

#include "whyformer/explanation.h"

namespace whyformer::report {

struct SampleOptions {
  std::string text = "A quietly wonderful film, although the ending is unbearably slow.";
  std::optional<std::string> pair = std::nullopt;
  std::vector<std::string> labels = {"negative", "positive"};
  int methods = 3;
  int layers = 4;
  int heads = 4;
};

void add_probabilities(Explanation& explanation);  // the softmax of its output

// Words are cut into pieces of at most seven code points; scores and maps come from a fixed
// pseudo-random sequence, with a few words weighing more.
Explanation sample_explanation(const SampleOptions& options = {});

Explanation documented_sample();  // the example of docs/json.md: small, with every key
Explanation long_sample(int tokens, int methods, int layers, int heads);
Explanation pair_sample();
Explanation unicode_sample();
Explanation hostile_sample();  // markup, scripts and terminal escapes in every string
Explanation hostile_estimate_sample();
Explanation broken_scores_sample();  // NaN, infinite, all-zero
Explanation regression_sample();
// Three methods that hide tokens: shares of the value with errors (one of them infinite), a linear
// fit, and pairs.
Explanation estimate_sample();
Explanation single_token_sample();  // one unit, no words, one label
Explanation many_labels_sample(int labels);

struct NamedSample {
  std::string name;
  Explanation explanation;
};
std::vector<NamedSample> all_samples();

}  // namespace whyformer::report
