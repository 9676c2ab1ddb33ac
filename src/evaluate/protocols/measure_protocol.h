// A protocol's numbers of several methods for one explained input and class.
#pragma once

#include "evaluate/protocols/protocol.h"

namespace whyformer {

// Adds the values of a part to the methods of the result; methods and the random baseline are there
// from the first part on.
void measure_protocol(const ProtocolPart& part, const ProtocolCase& one,
                      const EvaluationRequest& request, EvaluatedInput& result);

}  // namespace whyformer
