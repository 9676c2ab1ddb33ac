// Any ONNX model, built for inputs of given or small lengths to see what it is made of.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "formats/onnx/onnx_model.h"
#include "graph/attention_sites.h"

namespace whyformer {

struct OnnxProbe {
  onnx::OnnxFile file;
  std::map<std::string, Shape, std::less<>> shapes;  // that the graph was built for
  Graph graph;
  std::map<std::string, Value, std::less<>> inputs;  // those that must be fed
  std::map<std::string, Value, std::less<>> outputs;
  std::string main_output;  // whose read-out is reported
  Discovery found;
};

// Axes of any length get one that fits their role: 1 for batches, a few tokens, 224 pixels. `shapes`
// says otherwise, by input. Throws InvalidInput where the file does not work with these lengths.
OnnxProbe probe_onnx(const std::filesystem::path& path,
                     const std::map<std::string, Shape, std::less<>>& shapes);

// The same for inputs that are there: their lengths count, and where a shape depends on integers among
// them, their values do. Inputs that are not given are bound as in a probe; those of `inputs` in the
// result are to be fed.
OnnxProbe probe_onnx(const std::filesystem::path& path,
                     const std::map<std::string, Tensor, std::less<>>& given);

}  // namespace whyformer
