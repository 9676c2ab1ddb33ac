// An ONNX file, opened and parsed once for everything that reads it.
#pragma once

#include <filesystem>
#include <memory>

#include "discovery/named_values.h"
#include "models/config.h"
#include "models/model_files.h"
#include "onnx/onnx_model.h"

namespace whyformer {

// A parsed file with what lies around it.
struct OnnxDocument {
  std::filesystem::path path;
  FileLookup files;
  std::shared_ptr<const onnx::OnnxModel> model;

  Config config() const { return config_of(files); }
};

// A file, or a folder with one. Throws FileError and UnsupportedModel.
OnnxDocument open_onnx(const std::filesystem::path& path);

// What the file calls its nodes and values.
NativeNames native_names_of(const onnx::OnnxFile& file);

}  // namespace whyformer
