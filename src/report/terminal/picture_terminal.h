#pragma once

#include <string>

#include "report/views/panel_layout.h"
#include "whyformer/report.h"

namespace whyformer::report {

// to_terminal for explanations with a grid of patches, already checked.
std::string picture_terminal(const PanelLayout& layout, const TerminalOptions& options);

}  // namespace whyformer::report
