// What discovery found, in words.
#pragma once

#include <filesystem>

#include "models/graph_source.h"
#include "models/onnx_probe.h"
#include "whyformer/model.h"

namespace whyformer {

// What the config calls the architecture.
std::string architecture_name(const Config& config);

// A model as its source knows it, and a graph of it; `input` is what it reads, in one word.
ModelInfo describe(const GraphSource& source, const std::string& input, const ModelGraph& graph);
// "single-label classification"; `input` is named where there is no classifier.
std::string task_of(std::optional<Problem> problem, const std::string& input);
ModelInfo describe(const OnnxProbe& probe, const std::filesystem::path& file);

// Says where the graph has attention that discovery does not take for one.
void note_sampled_attention(const Graph& graph, std::vector<std::string>& notes);

}  // namespace whyformer
