// An explanation with trust in it.
#pragma once

#include "whyformer/explanation.h"

namespace whyformer::report {

Explanation trust_sample();

}  // namespace whyformer::report
