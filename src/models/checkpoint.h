// A checkpoint's tensors by name, converted and packed once and shared by every graph of the model.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "formats/weights.h"
#include "ops/ops.h"

namespace whyformer {

class Checkpoint {
 public:
  explicit Checkpoint(StoredTensors tensors);

  bool has(std::string_view name) const;
  bool has_prefix(std::string_view prefix) const;
  int64_t tensor_count() const { return static_cast<int64_t>(tensors_.size()); }
  int64_t parameter_count() const;

  // A tensor of exactly this shape (-1: any length). Old names (LayerNorm.gamma) are found too. Throws
  // FileError that names the tensor and both shapes.
  Tensor tensor(const std::string& name, const Shape& shape, DType type) const;

  // name + ".weight" [out, in] and name + ".bias" [out].
  std::shared_ptr<const LinearWeights> linear(const std::string& name, int64_t out, int64_t in,
                                              DType type) const;
  LayerNormWeights layer_norm(const std::string& name, int64_t width, double epsilon,
                              DType type) const;

 private:
  const StoredTensor& stored(const std::string& name) const;

  StoredTensors tensors_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::string, DType>, Tensor> converted_;
  mutable std::map<std::pair<std::string, DType>, std::shared_ptr<const LinearWeights>> linears_;
};

}  // namespace whyformer
