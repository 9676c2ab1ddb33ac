// Bars of several methods side by side, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "report/views/view.h"

namespace whyformer::report {

constexpr size_t kMostBars = 12;  // rows, the strongest words
constexpr int kWidestLabel = 20;  // columns of a word

// One row per word, one column of bars and numbers per method, in several tables where one would be
// wider than the terminal.
std::vector<std::string> side_by_side_lines(const Explanation& explanation,
                                            const TerminalOptions& options);

}  // namespace whyformer::report
