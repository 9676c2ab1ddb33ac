#include "formats/array_files.h"
#include "whyformer/error.h"
#include "whyformer/probe.h"

namespace whyformer {

void save(const std::filesystem::path& path, const Recording& recording, SavedAs type) {
  std::vector<ArrayToSave> arrays;
  for (const RecordedArray& one : recording.arrays) {
    const WeightType own = one.floats ? WeightType::kF32 : WeightType::kF64;
    arrays.push_back({one.name, one.axes, one.shape, one.floats.get(), one.doubles.get(),
                      type == SavedAs::kF16 && !one.exact ? WeightType::kF16 : own});
  }
  if (arrays.empty()) throw InvalidInput("nothing was read, so there is nothing to save");
  const std::filesystem::path ending = path.extension();
  if (ending == ".safetensors") return save_safetensors(path, arrays);
  if (ending == ".zarr") return save_zarr(path, arrays);
  if (ending != ".npy") {
    throw InvalidInput("values are saved as FILE.safetensors, FILE.npy or FOLDER.zarr");
  }
  if (arrays.size() > 1) {
    throw InvalidInput(
        "a .npy file holds one array, and several were read: read one, or save FILE.safetensors");
  }
  save_npy(path, arrays[0]);
}

}  // namespace whyformer
