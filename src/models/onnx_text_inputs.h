// Which input of an ONNX file of texts is what.
#pragma once

#include <string>

#include "onnx/onnx_file.h"

namespace whyformer {

// Empty names where it has none.
struct TextInputNames {
  std::string ids, mask, types, positions;
};

// Throws UnsupportedModel where the file takes something else than a text model does.
TextInputNames names_of_text_inputs(const onnx::OnnxFile& file);

}  // namespace whyformer
