#pragma once

#include "ops/arithmetic.h"

namespace whyformer {

// The part of `binary` whose functions answer 0 or 1.
Value compare(GraphBuilder& graph, Value a, Value b, BinaryFunction f, std::string name);

}  // namespace whyformer
