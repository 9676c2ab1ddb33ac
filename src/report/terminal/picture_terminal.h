#pragma once

#include <span>
#include <string>

#include "whyformer/report.h"

namespace whyformer::report {

// to_terminal for explanations of one picture, already checked.
std::string picture_terminal(std::span<const Explanation> explanations,
                             const TerminalOptions& options);

}  // namespace whyformer::report
