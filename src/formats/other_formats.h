// Files of models in formats that are not ONNX, which people give in place of a model.
#pragma once

#include <string>

#include "base/bytes.h"

namespace whyformer {

// What the file is, by its first bytes and by the names in it if it is an archive, and what to give
// instead: "holds weights alone (safetensors): …". Empty for a file that may be ONNX or that nobody
// knows. Nothing in the file is unpacked or run.
std::string about_other_format(const Bytes& file);

}  // namespace whyformer
