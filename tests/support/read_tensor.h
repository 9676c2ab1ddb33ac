// One ONNX tensor by itself, as ONNX's test data have them.
#pragma once

#define ONNX_ML 1
#include <onnx/onnx_pb.h>

#include <string>

#include "onnx/onnx_file.h"
#include "whyformer/error.h"

namespace whyformer::onnx {

// Read as the only initialiser of a model.
inline FileTensor read_tensor(const Bytes& bytes) {
  ::onnx::ModelProto model;
  model.add_opset_import()->set_version(17);
  ::onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  if (!tensor.ParseFromArray(bytes.view.data(), static_cast<int>(bytes.size())))
    throw FileError("this is not a whole ONNX tensor");
  const auto text = std::make_shared<const std::string>(model.SerializeAsString());
  const OnnxFile file = read_onnx({std::as_bytes(std::span(*text)), text},
                                  [](std::string_view) { return std::nullopt; });
  return file.graph.initialisers.begin()->second;
}

}  // namespace whyformer::onnx
