#include "models/model_hash.h"

#include "base/sha256.h"

namespace whyformer {
namespace {

void add_file(Sha256& hash, std::string_view name, const Bytes& content) {
  hash.add_text(name);
  hash.add_text(std::to_string(content.size()));
  hash.add(content.view);
}

}  // namespace

NotedFiles::NotedFiles(FileLookup files)
    : files_(std::move(files)), names_(std::make_shared<std::set<std::string>>()) {}

FileLookup NotedFiles::lookup() const {
  return [files = files_, noted = std::weak_ptr(names_)](std::string_view name) {
    auto found = files(name);
    const auto names = noted.lock();
    if (found && names) names->emplace(name);
    return found;
  };
}

HashOfModel NotedFiles::hash() const {
  return [files = files_, names = *names_] {
    Sha256 hash;
    for (const std::string& name : names) {
      if (const auto content = files(name)) add_file(hash, name, *content);
    }
    return hash.digest();
  };
}

HashOfModel hash_of(const OnnxDocument& document, const std::string& output) {
  return [document, output] {
    Sha256 hash;
    add_file(hash, "model.onnx", map_file(document.path));
    // Tensors may lie in other files.
    for (const auto& [name, tensor] : document.model->file().graph.initialisers)
      add_file(hash, name, tensor.data);
    if (const auto config = document.files("config.json")) add_file(hash, "config.json", *config);
    hash.add_text(output);
    return hash.digest();
  };
}

HashOfModel hash_of(const ModelParts& parts) {
  return [documents = parts.documents, weights = parts.weights] {
    Sha256 hash;
    for (const auto& [name, content] : documents) {
      hash.add_text(name);
      hash.add_text(content);
    }
    for (const auto& [name, array] : weights) {
      hash.add_text(name);
      hash.add_text(array.type);
      for (const int64_t length : array.shape) hash.add_text(std::to_string(length));
      hash.add({static_cast<const std::byte*>(array.data.get()), array.bytes});
    }
    return hash.digest();
  };
}

HashOfModel hash_with(HashOfModel model, std::vector<std::string> texts) {
  return [model = std::move(model), texts = std::move(texts)] {
    Sha256 hash;
    hash.add_text(model());
    for (const std::string& text : texts) hash.add_text(text);
    return hash.digest();
  };
}

}  // namespace whyformer
