// Where the files of a model are.
#pragma once

#include <filesystem>
#include <string>

#include "formats/weights.h"

namespace whyformer {

// The ONNX file of a folder without other weights, where exporters put it; empty if there is none.
std::filesystem::path onnx_file_in(const std::filesystem::path& folder);

// The ONNX file that a path stands for: itself, or the one in a folder; empty if there is none.
std::filesystem::path onnx_file_of(const std::filesystem::path& path);

// Files of a model by name: those of a folder, or those around an ONNX file (beside it, or one
// folder up where exporters keep it in "onnx/").
FileLookup files_of_model(const std::filesystem::path& path);

// What people call the model: the last part of its path.
std::string name_of_model(const std::filesystem::path& path);

// Of a folder of weights, whose outputs have no names. Throws InvalidInput.
void refuse_output(const std::string& output, const std::string& model);

}  // namespace whyformer
