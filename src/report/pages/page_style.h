// The style of all pages, with the palettes for light and dark paper as variables.
#pragma once

#include <string>

namespace whyformer::report {

std::string style_sheet();

}  // namespace whyformer::report
