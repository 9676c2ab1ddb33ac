// Models that are handed over in memory, without files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace whyformer {

// Someone else's numbers, row-major without gaps. They are read where they lie, so they must not
// change while a model uses them.
struct ArrayView {
  std::string type;            // as safetensors calls it: "F32", "F16", "BF16", "F64", "I64", …
  std::vector<int64_t> shape;  // empty for a scalar
  std::shared_ptr<const void> data;  // keeps its owner alive
  size_t bytes = 0;
};

// What a HuggingFace folder would hold.
struct ModelParts {
  std::string name;
  // The contents of its small files by name: config.json, and tokenizer.json,
  // tokenizer_config.json, preprocessor_config.json, 1_Pooling/config.json, … where the model has
  // them. Copied.
  std::map<std::string, std::string, std::less<>> documents;
  // By their names in the weight files, or in a transformers module.
  std::map<std::string, ArrayView, std::less<>> weights;
};

}  // namespace whyformer
