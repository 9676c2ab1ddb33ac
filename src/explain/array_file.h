// Inputs of a model as arrays in a file.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tensor/tensor.h"

namespace whyformer {

using NamedArrays = std::map<std::string, Tensor, std::less<>>;

// The arrays of a safetensors file, as floats of 32 bits or integers of 64. Throws FileError, and
// InvalidInput for types that no input takes.
NamedArrays read_arrays(const std::filesystem::path& path);

}  // namespace whyformer
