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

NativeNames native_names_of(const onnx::OnnxFile& file) {
  auto nodes = std::make_shared<std::vector<FileNode>>();
  for (const onnx::OnnxNode& node : file.graph.nodes)
    nodes->push_back({node.title(), node.inputs, node.outputs});
  return {"onnx", std::move(nodes)};
}

}  // namespace whyformer
