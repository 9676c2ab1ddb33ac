// A row of a table for a terminal.
#pragma once

#include <string>
#include <vector>

#include "whyformer/report.h"

namespace whyformer::report {

// A line for each column: its name, its cell, and number and bar of each method, the strongest by
// the first method on top; in several tables where one would be wider than the terminal.
std::vector<std::string> row_lines(const Explanation& explanation, const TerminalOptions& options);

}  // namespace whyformer::report
