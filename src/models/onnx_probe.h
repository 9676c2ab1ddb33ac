// Any ONNX model, built for inputs of given or small lengths to see what it is made of.
#pragma once

#include <map>
#include <string>

#include "discovery/attention_sites.h"
#include "models/batch_axis.h"
#include "models/onnx_document.h"

namespace whyformer {

struct OnnxProbe {
  onnx::OnnxFile file;
  std::map<std::string, Shape, std::less<>> shapes;  // that the graph was built for
  BatchPlaces batches;  // where the file has them; the graph takes all of them in front
  Graph graph;
  std::map<std::string, Value, std::less<>> inputs;  // those that must be fed
  std::map<std::string, Value, std::less<>> outputs;
  std::string main_output;  // whose read-out is reported
  int64_t batch = 1;
  Discovery found;

  BatchAxis batch_axis(const std::string& input) const {
    const auto place = batches.find(input);
    return place == batches.end() ? BatchAxis::kFirst : place->second.axis;
  }
};

// Axes of any length get one that fits their role: 1 for batches, a few tokens, 224 pixels.
// `shapes` says otherwise, by input. Throws InvalidInput where the file does not work with these
// lengths.
OnnxProbe probe_onnx(const OnnxDocument& document,
                     const std::map<std::string, Shape, std::less<>>& shapes,
                     const BatchAxes& batch_axes = {});

// The same for inputs that are there: their lengths count, and where a shape depends on integers
// among them, their values do. Inputs that are not given are bound as in a probe; those of `inputs`
// in the result are to be fed.
struct OnnxProbeRequest {
  std::vector<std::string> outputs = {};  // empty: all of them
  DType floats = DType::kFloat32;
  BatchAxes batch_axes = {};  // that were told
};
OnnxProbe probe_onnx(const onnx::OnnxModel& model, const Config& config,
                     const std::map<std::string, Tensor, std::less<>>& given,
                     const OnnxProbeRequest& request);

// Whether the graph has the input's values built in rather than fed: masks, positions, flags and
// caches.
bool is_bound_by_value(const onnx::DeclaredValue& input);

// Logits, if the file has them, else its first output.
std::string main_output_of(const onnx::OnnxFile& file);

}  // namespace whyformer
