// One output of an ONNX file as a rewritten graph: what text and picture models start from.
#pragma once

#include <map>
#include <string>

#include "discovery/attention_sites.h"
#include "onnx/onnx_model.h"

namespace whyformer {

struct OnnxGraph {
  Graph graph;
  std::map<std::string, Value, std::less<>> inputs;  // those that must be fed
  Value output;

  // Invalid where the graph does not read that input.
  Value input(const std::string& name) const;
};

// Weights of Linears are shared between all graphs of the model.
OnnxGraph build_onnx(const onnx::OnnxModel& model, onnx::BuildRequest request,
                     const std::string& output, int64_t batch);

// Throws InvalidInput for an output that the file does not have, with those that it has; none
// (empty) is fine.
void check_output(const onnx::OnnxFile& file, const std::string& asked);

// How many inputs of a model may run together: 1 where those of a batch cannot be rounded each by
// its own span, any number elsewhere. `of_two` asks for a graph of two inputs.
int64_t most_together(const onnx::OnnxModel& model, const onnx::BuildRequest& of_two,
                      const std::string& output);

// What enters the first layer, [batch, tokens, width]; `otherwise` where that is not recognised.
// Methods that need the layer's input say so.
Value first_layer_input(const Graph& graph, const Discovery& found, Value otherwise);

}  // namespace whyformer
