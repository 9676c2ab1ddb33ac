#pragma once

#include <string>

#include "whyformer/report.h"

namespace whyformer::report {

// to_terminal for an explanation with token streams, already checked: the highest scores of each.
std::string stream_terminal(const Explanation& explanation, const TerminalOptions& options);

}  // namespace whyformer::report
