// Which readers fit a model: asked once, of the parsed source.
#pragma once

#include <exception>
#include <filesystem>
#include <memory>
#include <vector>

#include "models/onnx_document.h"
#include "readers/reader.h"

namespace whyformer {

struct LoadedReaders {
  std::vector<std::shared_ptr<const Reader>> readers;  // of what the model was made for first
  std::exception_ptr refusal = nullptr;                // why nothing else can be read
};

// A HuggingFace folder: config.json tells whether it reads texts or pictures.
LoadedReaders readers_of_folder(const FileLookup& files, const WeightSource& weights,
                                const std::string& name);

// An ONNX file; arrays always fit.
LoadedReaders readers_of_onnx(const OnnxDocument& document, const std::string& name,
                              const LoadOptions& options);

}  // namespace whyformer
