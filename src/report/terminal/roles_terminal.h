// The roles of heads for a terminal.
#pragma once

#include <string>
#include <vector>

#include "report/terminal/terminal_style.h"
#include "whyformer/head_roles.h"

namespace whyformer::report {

// Lines without newlines: a grid of layers and heads, and the tables.
std::vector<std::string> roles_lines(const HeadRoles& roles, const TerminalStyle& style, int width);

}  // namespace whyformer::report
