// An ONNX file that can be built into graphs, each for concrete input shapes.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "onnx/onnx_file.h"
#include "ops/linear_weights.h"

namespace whyformer::onnx {

// What an input of the model is bound to when a graph is built.
struct InputBinding {
  Shape shape;
  std::optional<Tensor> value =
      {};  // known now, so that what depends on it folds; else fed to each run
  InputRole role = InputRole::kExplained;
};

struct BuildRequest {
  std::map<std::string, InputBinding, std::less<>> inputs = {};
  std::vector<std::string> outputs = {};  // values of the file to compute, by name
  DType floats = DType::kFloat32;
};

struct BuiltGraph {
  Graph graph;
  std::map<std::string, Value, std::less<>> inputs;  // those that are fed
  std::map<std::string, Value, std::less<>> values;  // every value of the file that was built
};

class OnnxModel {
 public:
  // Throws UnsupportedModel that lists every operator which cannot be imported.
  explicit OnnxModel(OnnxFile file);

  const OnnxFile& file() const { return file_; }

  // All shape arithmetic is folded away. Throws NeedsValue where a shape depends on an input that
  // is not given by value, and InvalidInput where the shapes do not fit the model.
  BuiltGraph build(const BuildRequest& request) const;

  // Weights [out, in] and bias of a Linear, packed once for all graphs if they belong to the file.
  std::shared_ptr<const LinearWeights> linear_weights(const Tensor& weight,
                                                      const Tensor& bias) const;
  // What `make` makes of these tensors, once for all graphs if they belong to the file. `what`
  // tells things apart that are made of the same tensors.
  std::shared_ptr<const void> made_once(
      const std::vector<Tensor>& from, const std::string& what,
      const std::function<std::shared_ptr<const void>()>& make) const;

 private:
  friend class Translation;

  // What does not depend on inputs is computed once for all graphs.
  struct Shared {
    Tensor tensor;
    ElementType element = ElementType::kFloat;
  };
  using LinearKey = std::tuple<const void*, Shape, Shape, const void*>;

  void keep(const std::string& name, DType floats, Shared shared) const;  // under the mutex

  OnnxFile file_;
  std::set<std::string> narrow_;  // initialisers that stay bytes; see narrow_weights.h
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::string, DType>, Shared> shared_;
  mutable std::set<const void*>
      shared_memory_;  // of those tensors, which stay as long as the model
  mutable std::map<LinearKey, std::shared_ptr<const LinearWeights>> linears_;
  mutable std::map<std::pair<std::vector<const void*>, std::string>, std::shared_ptr<const void>>
      made_;
};

}  // namespace whyformer::onnx
