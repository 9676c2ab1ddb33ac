// An explanation with trust in it.
#pragma once

#include "whyformer/explanation.h"

namespace whyformer {

Explanation trust_sample();

}  // namespace whyformer
