#include "models/onnx_document.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer {

OnnxDocument open_onnx(const std::filesystem::path& path) {
  const std::filesystem::path file = onnx_file_of(path);
  if (file.empty()) {
    throw FileError(
        fmt::format("'{}' is neither an ONNX file nor a folder with one; arrays need an ONNX model",
                    path.string()));
  }
  return {file, files_of_model(file),
          std::make_shared<const onnx::OnnxModel>(onnx::read_onnx(file))};
}

}  // namespace whyformer
