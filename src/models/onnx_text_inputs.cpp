#include "models/onnx_text_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "onnx/element_type.h"
#include "whyformer/error.h"

namespace whyformer {

TextInputNames names_of_text_inputs(const onnx::OnnxFile& file) {
  TextInputNames names;
  std::vector<std::string> unknown;
  for (const onnx::DeclaredValue& input : file.graph.inputs) {
    const std::string& name = input.name;
    const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
    if (has("mask")) {
      names.mask = name;
    } else if (has("type") || has("segment")) {
      names.types = name;
    } else if (has("position")) {
      names.positions = name;
    } else if (names.ids.empty() && !onnx::is_float(input.type)) {
      names.ids = name;
    } else {
      unknown.push_back(name);
    }
  }
  if (names.ids.empty() || !unknown.empty()) {
    std::vector<std::string> all;
    for (const onnx::DeclaredValue& input : file.graph.inputs) all.push_back(input.name);
    throw UnsupportedModel(
        fmt::format("the ONNX file takes {}: a text model takes token ids and at most a mask, "
                    "token types and positions; give arrays to any other",
                    fmt::join(all, ", ")),
        Remedy::kArrays);
  }
  return names;
}

}  // namespace whyformer
