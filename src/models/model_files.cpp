#include "models/model_files.h"

#include "base/files.h"

namespace whyformer {

FileLookup files_of_model(const std::filesystem::path& path) {
  std::error_code error;
  const bool is_onnx = path.extension() == ".onnx" && std::filesystem::is_regular_file(path, error);
  if (!is_onnx) return files_in(path);
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const FileLookup beside = files_in(folder);
  const std::filesystem::path absolute = std::filesystem::weakly_canonical(folder);
  if (absolute.filename() != "onnx") return beside;
  const FileLookup above = files_in(absolute.parent_path());
  return [beside, above](std::string_view name) -> std::optional<Bytes> {
    if (auto found = beside(name)) return found;
    return above(name);
  };
}

}  // namespace whyformer
