// Explanations to summarise.
#pragma once

#include <string>
#include <vector>

#include "whyformer/explanation.h"

namespace whyformer::report {

// A token per word, between special tokens; scores for all of them.
Explanation sentence(const std::string& text, const std::vector<double>& scores);

// Scores by the shap package of five sentences for bert-base-uncased-SST-2.
std::vector<Explanation> five_sentences();

Explanation table_row(double age, double hours, const std::vector<double>& scores);
std::vector<Explanation> table_rows();

}  // namespace whyformer::report
