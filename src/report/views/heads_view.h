// What every report of head importance draws.
#pragma once

#include <string>
#include <vector>

#include "whyformer/heads.h"

namespace whyformer::report {

// Throws InvalidInput where measures do not score the same heads.
void check(const HeadImportance& importance);

// The largest finite score, which gets full colour; 0 where there is none.
double largest_score(const HeadGrid& grid);

size_t most_heads(const HeadGrid& grid);  // of a layer
size_t head_count(const HeadGrid& grid);

// All heads, highest score first; what is not a number comes last.
std::vector<HeadName> ranked(const HeadGrid& grid);

// Three significant digits of the scale, so that the numbers of a grid line up.
std::string format_cell(double score, double scale);

std::string model_line(const ModelName& model);             // "name (architecture)"
std::string corpus_line(const HeadImportance& importance);  // "872 texts · 21634 tokens"
std::string options_line(const HeadScores& scores);         // "normalise=layer"; may be empty

}  // namespace whyformer::report
