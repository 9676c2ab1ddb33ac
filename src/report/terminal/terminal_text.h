// The explained text as wrapped lines of coloured pieces.
#pragma once

#include <string>
#include <vector>

#include "report/terminal/terminal_style.h"
#include "report/views/view.h"

namespace whyformer::report {

// Lines without newlines, each at most `width` columns. Without colour every line of text is
// followed by a line of marks that tells the strengths.
std::vector<std::string> heat_lines(const Explanation& explanation, const Attribution& attribution,
                                    const TerminalOptions& options);

// The text alone, wrapped.
std::vector<std::string> plain_lines(const Explanation& explanation,
                                     const TerminalOptions& options);

// A sentence, wrapped at blanks and indented by two.
std::vector<std::string> wrapped_sentence(std::string_view sentence, int width);

}  // namespace whyformer::report
