// The part of an evaluation's picture that pages show by itself, beside curves that wrap.
#pragma once

#include <string>

#include "whyformer/evaluation.h"

namespace whyformer::report {

// Points and intervals of all columns as SVG, without the curves.
std::string means_picture(const Evaluation& evaluation);

}  // namespace whyformer::report
