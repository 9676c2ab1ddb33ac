// The force bar and the strongest pairs, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "report/terminal/terminal_style.h"
#include "report/views/estimate_view.h"

namespace whyformer::report {

// The bar with words in its segments, and below it where the base and the value are. Without colour
// the segments point to the value: "─word─▶" for the target, "◀─word─" against it.
std::vector<std::string> force_lines(const ForceBar& bar, const TerminalOptions& options);

std::vector<std::string> pair_lines(const Interactions& interactions,
                                    const TerminalOptions& options);

}  // namespace whyformer::report
