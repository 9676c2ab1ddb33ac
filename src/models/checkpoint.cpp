#include "models/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "ops/scaled_rows.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// TensorFlow's names, which early checkpoints kept.
std::string old_name(const std::string& name) {
  if (name.ends_with("LayerNorm.weight")) return name.substr(0, name.size() - 6) + "gamma";
  if (name.ends_with("LayerNorm.bias")) return name.substr(0, name.size() - 4) + "beta";
  return name;
}

bool matches(const Shape& shape, const Shape& wanted) {
  if (shape.size() != wanted.size()) return false;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (wanted[axis] >= 0 && wanted[axis] != shape[axis]) return false;
  }
  return true;
}

// Lengths that the configuration leaves open are -1.
std::string wanted_text(const Shape& shape) {
  std::string text;
  for (const int64_t length : shape) text += (text.empty() ? "" : ", ") + (length < 0 ? "any" : std::to_string(length));
  return "[" + text + "]";
}

Tensor as_float32(const StoredTensor& stored) {
  // Aligned 32-bit floats are read where they lie in the file.
  const auto address = reinterpret_cast<uintptr_t>(stored.data.view.data());
  if (stored.type == WeightType::kF32 && address % alignof(float) == 0) {
    auto* data = const_cast<std::byte*>(stored.data.view.data());
    auto owner = stored.data.owner ? std::const_pointer_cast<void>(stored.data.owner)
                                   : std::shared_ptr<void>(data, [](void*) {});
    return Tensor::wrap(stored.shape, DType::kFloat32, std::move(owner), data);
  }
  Tensor tensor = Tensor::empty(stored.shape);
  to_float32(stored, tensor.mutable_data<float>());
  return tensor;
}

}  // namespace

Checkpoint::Checkpoint(StoredTensors tensors) : tensors_(std::move(tensors)) {}

bool Checkpoint::has(std::string_view name) const {
  return tensors_.contains(name) || tensors_.contains(old_name(std::string(name)));
}

bool Checkpoint::has_prefix(std::string_view prefix) const {
  const auto found = tensors_.lower_bound(prefix);
  return found != tensors_.end() && found->first.starts_with(prefix);
}

int64_t Checkpoint::parameter_count() const {
  int64_t count = 0;
  for (const auto& [name, tensor] : tensors_) count += tensor.count();
  return count;
}

const StoredTensor& Checkpoint::stored(const std::string& name) const {
  auto found = tensors_.find(name);
  if (found == tensors_.end()) found = tensors_.find(old_name(name));
  if (found == tensors_.end()) {
    throw FileError(fmt::format(
        "the checkpoint lacks the tensor '{}': config.json and the weights do not belong together, "
        "or some weights are missing",
        name));
  }
  return found->second;
}

Tensor Checkpoint::tensor(const std::string& name, const Shape& shape, DType type) const {
  const StoredTensor& source = stored(name);
  if (!matches(source.shape, shape)) {
    throw FileError(fmt::format(
        "the tensor '{}' has the shape {} but config.json asks for {}", name,
        to_string(source.shape), wanted_text(shape)));
  }
  const std::lock_guard lock(mutex_);
  Tensor& known = converted_[{name, type}];
  if (!known.defined()) {
    known = as_float32(source);
    if (type == DType::kFloat64) known = known.cast(type);
  }
  return known;
}

std::shared_ptr<const LinearWeights> Checkpoint::linear(const std::string& name, int64_t out,
                                                        int64_t in, DType type,
                                                        const LinearParts& parts) const {
  return linear_once(name, type, [&] {
    Tensor weight = tensor(name + ".weight", {out, in}, type), bias;
    if (parts.bias == Bias::kYes) bias = tensor(name + ".bias", {out}, type);
    if (!parts.scale.empty()) {
      const Tensor scale = tensor(parts.scale, {out}, type);
      weight = scaled_rows(weight, scale);
      if (bias.defined()) bias = scaled_rows(bias, scale);
    }
    return std::make_shared<LinearWeights>(weight, bias);
  });
}

std::shared_ptr<const LinearWeights> Checkpoint::convolution(const std::string& name,
                                                             const Shape& weight, DType type,
                                                             Bias bias) const {
  return linear_once(name, type, [&] {
    const Tensor kernels = tensor(name + ".weight", weight, type);
    const Tensor rows = kernels.reshape({weight[0], kernels.size() / weight[0]});
    return std::make_shared<LinearWeights>(
        rows, bias == Bias::kYes ? tensor(name + ".bias", {weight[0]}, type) : Tensor());
  });
}

std::shared_ptr<const LinearWeights> Checkpoint::linear_once(
    const std::string& name, DType type,
    const std::function<std::shared_ptr<const LinearWeights>()>& make) const {
  {
    const std::lock_guard lock(mutex_);
    const auto known = linears_.find({name, type});
    if (known != linears_.end()) return known->second;
  }
  auto weights = make();
  const std::lock_guard lock(mutex_);
  return linears_.try_emplace({name, type}, std::move(weights)).first->second;
}

Tensor Checkpoint::derived(const std::string& name, DType type,
                           const std::function<Tensor()>& make) const {
  {
    const std::lock_guard lock(mutex_);
    const auto known = converted_.find({name, type});
    if (known != converted_.end()) return known->second;
  }
  Tensor made = make();
  const std::lock_guard lock(mutex_);
  return converted_.try_emplace({name, type}, std::move(made)).first->second;
}

LayerNormWeights Checkpoint::layer_norm(const std::string& name, int64_t width, double epsilon,
                                        DType type) const {
  return {tensor(name + ".weight", {width}, type), tensor(name + ".bias", {width}, type), epsilon};
}

}  // namespace whyformer
