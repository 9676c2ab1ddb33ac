// A checkpoint's tensors by name, converted and packed once and shared by every graph of the model.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/weights.h"
#include "ops/ops.h"

namespace whyformer {

enum class Bias { kYes, kNo };

// What a Linear consists of besides its weight.
struct LinearParts {
  Bias bias = Bias::kYes;
  std::string scale =
      {};  // a tensor [out] that multiplies its outputs (LayerScale); empty for none
};

// Some rows of a stored matrix as a Linear of their own: queries, keys and values may be one
// matrix.
struct LinearRows {
  std::string weight = {};
  std::string bias = {};  // empty: none
  int64_t first = 0;
  int64_t count = -1;       // all of them
  bool transposed = false;  // stored as [in, out]
};

class Checkpoint {
 public:
  // `told_by` says, in messages, what the shapes of tensors come from.
  explicit Checkpoint(StoredTensors tensors, std::string told_by = "config.json");

  bool has(std::string_view name) const;
  bool has_prefix(std::string_view prefix) const;
  // Nothing where there is no such tensor.
  std::optional<Shape> shape_of(const std::string& name) const;
  int64_t tensor_count() const { return static_cast<int64_t>(tensors_.size()); }
  int64_t parameter_count() const;

  // A tensor of exactly this shape (-1: any length). Old names (LayerNorm.gamma) are found too.
  // Throws FileError that names the tensor and both shapes.
  Tensor tensor(const std::string& name, const Shape& shape, DType type) const;

  // A vector of 64-bit integers.
  std::vector<int64_t> whole_numbers(const std::string& name) const;

  // name + ".weight" [out, in] and name + ".bias" [out]; a scale becomes part of both.
  std::shared_ptr<const LinearWeights> linear(const std::string& name, int64_t out, int64_t in,
                                              DType type, const LinearParts& parts = {}) const;
  std::shared_ptr<const LinearWeights> linear(const LinearRows& rows, int64_t in, DType type) const;
  // The same for a weight [features, channels, kernel…], as rows [channels · kernel].
  std::shared_ptr<const LinearWeights> convolution(const std::string& name, const Shape& weight,
                                                   DType type, Bias bias) const;
  // What `make` gives, made once and shared under a name that no tensor has.
  Tensor derived(const std::string& name, DType type, const std::function<Tensor()>& make) const;
  LayerNormWeights layer_norm(const std::string& name, int64_t width, double epsilon,
                              DType type) const;

  // What the users of a model should know, once a graph was built of it: which layers it leaves
  // out.
  std::vector<std::string> notes() const;
  // Tensors that no graph was made of so far.
  std::vector<std::string> never_asked() const;

 private:
  // Layers of which nothing was asked for, though of others beside them: "encoder.layer.2", …
  std::vector<std::string> layers_left_out() const;
  const StoredTensor& stored(const std::string& name) const;
  std::shared_ptr<const LinearWeights> linear_once(
      const std::string& name, DType type,
      const std::function<std::shared_ptr<const LinearWeights>()>& make) const;

  StoredTensors tensors_;
  std::string told_by_;
  mutable std::mutex mutex_;
  mutable std::set<std::string> asked_;
  mutable std::map<std::pair<std::string, DType>, Tensor> converted_;
  mutable std::map<std::pair<std::string, DType>, std::shared_ptr<const LinearWeights>> linears_;
};

}  // namespace whyformer
