#include "models/table_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "formats/file_checks.h"
#include "models/model_files.h"
#include "models/weight_facts.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr std::string_view kCheckpointEndings[] = {".safetensors", ".pt",   ".pth",
                                                   ".ptx",         ".ckpt", ".bin"};

}  // namespace

StoredTensors table_weights_in(const Bytes& file, const std::string& name) {
  if (name.ends_with(".safetensors")) return read_safetensors(file, name);
  return read_training_pickle(file, name).tensors;
}

std::optional<std::string> table_package_in(const std::filesystem::path& path) {
  std::error_code error;
  const bool named = std::ranges::find(kCheckpointEndings, path.extension().string()) !=
                     std::end(kCheckpointEndings);
  if (!named || !std::filesystem::is_regular_file(path, error)) return std::nullopt;
  try {
    return table_package_of(table_weights_in(map_file(path), path.filename().string()));
  } catch (const Error&) {
    return std::nullopt;  // no weights; whoever reads other files says what it is
  }
}

bool is_table_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path / kTableSpecFile, error) &&
         onnx_file_in(path).empty();
}

TableFiles files_of_table(const std::filesystem::path& path, const std::filesystem::path& spec) {
  if (spec.empty()) return {files_in(path)};
  std::error_code error;
  const std::filesystem::path folder =
      spec.has_parent_path() ? spec.parent_path() : std::filesystem::path(".");
  const bool bare = !std::filesystem::is_directory(path, error);
  const FileLookup beside = files_in(bare ? folder : path);
  const std::string weights = bare ? path.filename().string() : "";
  const FileLookup files = [=](std::string_view name) -> std::optional<Bytes> {
    if (name == kTableSpecFile) return map_file(spec);
    if (!weights.empty() && name == weights) return map_file(path);
    return beside(name);
  };
  return {files, weights};
}

StoredTensors table_weights(const FileLookup& files, const TableSpec& spec,
                            const std::string& given) {
  const std::string& name = given.empty() ? spec.model.weights : given;
  if (name.empty()) return read_checkpoint(files);
  const std::optional<Bytes> file = files(name);
  if (!file) {
    throw FileError(fmt::format("table.json names the weights {}, which are not in its folder",
                                in_quotes(name)));
  }
  return table_weights_in(*file, name);
}

}  // namespace whyformer
