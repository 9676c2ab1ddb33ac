#pragma once

#include "whyformer/explanation.h"

namespace whyformer::report {

// Two token streams of an encoder-decoder model, with every key that streams add.
Explanation documented_streams_sample();

}  // namespace whyformer::report
