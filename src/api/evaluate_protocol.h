// One input measured by a protocol.
#pragma once

#include "whyformer/protocols.h"

namespace whyformer {

// Throws InvalidInput where the protocol cannot be run on inputs one by one, or is mixed with
// metrics.
void check_protocol(const EvaluationRequest& request);

// `seed` is of the draws for this input. Throws what explain() throws, and InvalidInput where the
// input lacks what the protocol needs.
void measure_by_protocol(const Model& model, const EvaluationInput& input,
                         const EvaluationRequest& request, int64_t seed, EvaluatedInput& result);

}  // namespace whyformer
