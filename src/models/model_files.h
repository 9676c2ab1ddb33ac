// Where the files of a model lie: tokenizer, config and the like.
#pragma once

#include <filesystem>

#include "base/bytes.h"

namespace whyformer {

// Of a folder; or beside an ONNX file, and one folder up where exporters keep it in "onnx/".
FileLookup files_of_model(const std::filesystem::path& path);

}  // namespace whyformer
