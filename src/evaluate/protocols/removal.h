// Units taken out of an input, rather than replaced.
#pragma once

#include "evaluate/protocols/protocol.h"

namespace whyformer {

// Outputs of the model without each of these sets of units, all of one part of the input. Where
// they cannot be taken out, they are hidden in the part's own way, and a note says so.
std::vector<std::vector<double>> answers_without(const ProtocolCase& one,
                                                 const std::vector<std::vector<bool>>& removed);

// Adds a note unless it is there.
void add_note(const ProtocolCase& one, const std::string& note);

}  // namespace whyformer
