// What tells one model from another: a hash of everything it was read from.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "formats/weights.h"
#include "models/onnx_document.h"
#include "whyformer/parts.h"

namespace whyformer {

// Computes the hash: weights may be gigabytes, so not before somebody asks.
using HashOfModel = std::function<std::string()>;

// Notes which files a lookup gives.
class NotedFiles {
 public:
  explicit NotedFiles(FileLookup files);

  // The same files; those that are found are noted as long as this object is there.
  FileLookup lookup() const;
  // Gives the hash of the names and contents of the files that were found so far.
  HashOfModel hash() const;

 private:
  FileLookup files_;
  std::shared_ptr<std::set<std::string>> names_;
};

// Of an ONNX file with its external data, of config.json beside it, and of the explained output.
HashOfModel hash_of(const OnnxDocument& document, const std::string& output);
// Of documents and weights in memory.
HashOfModel hash_of(const ModelParts& parts);
// Of a model that chooses among texts.
HashOfModel hash_with(HashOfModel model, std::vector<std::string> texts);

}  // namespace whyformer
