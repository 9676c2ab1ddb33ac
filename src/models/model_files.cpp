#include "models/model_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/files.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The one file of a folder that has one, whatever its name; empty for none. Throws FileError that
// names them for several.
std::filesystem::path only_onnx_file(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const std::string inside : {"", "onnx/"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder / inside, error)) {
      if (entry.path().extension() == ".onnx")
        names.push_back(inside + entry.path().filename().string());
    }
  }
  if (names.empty()) return {};
  if (names.size() == 1) return folder / names[0];
  std::sort(names.begin(), names.end());
  if (names.size() > 5) names.resize(5);
  throw FileError(fmt::format("'{}' holds several ONNX files ({}…): give one of them",
                              folder.string(), fmt::join(names, ", ")));
}

// A link that cannot be followed is there: reading it tells what is wrong with it.
bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) || error;
}

}  // namespace

std::filesystem::path onnx_file_in(const std::filesystem::path& folder) {
  if (folder.empty()) return {};  // not the current folder
  for (const char* weights : {"model.safetensors", "model.safetensors.index.json",
                              "pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    if (is_there(folder / weights)) return {};
  }
  for (const char* name :
       {"model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"}) {
    if (is_there(folder / name)) return folder / name;
  }
  return only_onnx_file(folder);
}

std::filesystem::path onnx_file_of(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return path;
  return onnx_file_in(path);
}

FileLookup files_of_model(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return files_in(path);
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

std::string name_of_model(const std::filesystem::path& path) {
  return std::filesystem::weakly_canonical(path).filename().string();
}

void refuse_output(const std::string& output, const std::string& model) {
  if (output.empty()) return;
  throw InvalidInput(
      fmt::format("'{}' is a folder of weights, whose outputs have no names: an output ('{}') is "
                  "chosen of an ONNX file",
                  model, output));
}

}  // namespace whyformer
