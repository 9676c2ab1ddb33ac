// What explains an input where a method cannot.
#pragma once

#include <string>

#include "methods/method.h"
#include "run/missing.h"

namespace whyformer {

// "methods that read no attention maps: saliency, …", by what the catalogue's methods need.
std::string other_methods(Missing missing, const Input& input);

}  // namespace whyformer
