// Inputs of a model as arrays in a file or in memory.
#pragma once

#include <filesystem>

#include "models/array_source.h"
#include "whyformer/model.h"

namespace whyformer {

// The arrays of a safetensors file, as floats of 32 bits or integers of 64. Throws FileError, and
// InvalidInput for types that no input takes.
NamedArrays read_arrays(const std::filesystem::path& path);

// The same for arrays in memory. Throws InvalidInput where the bytes are not as many as type and
// shape say.
NamedArrays tensors_of(const ArrayViews& views);

}  // namespace whyformer
