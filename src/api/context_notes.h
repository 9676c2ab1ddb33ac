// What an explanation by rows of a context says in sentences.
#pragma once

#include "readers/context_part.h"
#include "whyformer/explanation.h"

namespace whyformer {

// Sums of scores by the rows' own answers, and how rows share out their attention.
void add_notes_on_rows(const ContextPart& rows, Explanation& explanation);

}  // namespace whyformer
