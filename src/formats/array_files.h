// Arrays written as safetensors, as NumPy's .npy and as Zarr folders, piece by piece.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "formats/weights.h"

namespace whyformer {

// Numbers of one of both kinds, product(shape) of them, row by row.
struct ArrayToSave {
  std::string name;
  std::vector<std::string> axes;
  std::vector<int64_t> shape;
  const float* floats = nullptr;
  const double* doubles = nullptr;
  WeightType type = WeightType::kF32;  // in the file: F16, F32 or F64

  size_t count() const;
};

// Each throws FileError, and InvalidInput for a number that its type has not, before the file is
// there.
void save_safetensors(const std::filesystem::path& path, std::span<const ArrayToSave> arrays);
void save_npy(const std::filesystem::path& path, const ArrayToSave& array);
// A new folder with an array of one chunk for each; axes have their names as xarray reads them.
void save_zarr(const std::filesystem::path& folder, std::span<const ArrayToSave> arrays);

}  // namespace whyformer
