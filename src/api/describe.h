// What discovery found, in words.
#pragma once

#include <filesystem>

#include "models/onnx_probe.h"
#include "whyformer/model.h"

namespace whyformer {

// What the config calls the architecture.
std::string architecture_name(const Config& config);

void describe(const Discovery& found, ModelInfo& info);
ModelInfo describe(const OnnxProbe& probe, const std::filesystem::path& file);

// Says where the graph has attention that discovery does not take for one.
void note_sampled_attention(const Graph& graph, std::vector<std::string>& notes);

}  // namespace whyformer
