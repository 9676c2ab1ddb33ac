#include "models/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>

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

// Where the names of layers in a tensor's name end: behind "encoder.layer.2", behind "layers.0" and
// "layers.0.blocks.1".
std::vector<size_t> ends_of_layers(const std::string& name) {
  std::vector<size_t> ends;
  for (size_t at = name.find('.'); at != name.npos; at = name.find('.', at + 1)) {
    const size_t end = name.find_first_not_of("0123456789", at + 1);
    if (end == name.npos || end == at + 1 || name[end] != '.') continue;
    const size_t before = at == 0 ? name.npos : name.rfind('.', at - 1);
    const std::string kind = name.substr(before == name.npos ? 0 : before + 1,
                                         at - (before == name.npos ? 0 : before + 1));
    if (kind.find("layer") != kind.npos || kind.find("block") != kind.npos) ends.push_back(end);
  }
  return ends;
}

Tensor as_float64(const StoredTensor& stored) {
  Tensor tensor = Tensor::empty(stored.shape, DType::kFloat64);
  if (stored.data.size() > 0)
    std::memcpy(tensor.mutable_data<double>(), stored.data.view.data(), stored.data.size());
  return tensor;
}

// Lengths that the configuration leaves open are -1.
std::string wanted_text(const Shape& shape) {
  std::string text;
  for (const int64_t length : shape)
    text += (text.empty() ? "" : ", ") + (length < 0 ? "any" : std::to_string(length));
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

Checkpoint::Checkpoint(StoredTensors tensors, std::string told_by)
    : tensors_(std::move(tensors)), told_by_(std::move(told_by)) {}

bool Checkpoint::has(std::string_view name) const {
  return tensors_.contains(name) || tensors_.contains(old_name(std::string(name)));
}

bool Checkpoint::has_prefix(std::string_view prefix) const {
  const auto found = tensors_.lower_bound(prefix);
  return found != tensors_.end() && found->first.starts_with(prefix);
}

std::optional<Shape> Checkpoint::shape_of(const std::string& name) const {
  return has(name) ? std::optional(stored(name).shape) : std::nullopt;
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
        "the checkpoint lacks the tensor '{}': {} and the weights do not belong together, "
        "or some weights are missing",
        name, told_by_));
  }
  return found->second;
}

Tensor Checkpoint::tensor(const std::string& name, const Shape& shape, DType type) const {
  const StoredTensor& source = stored(name);
  if (!matches(source.shape, shape)) {
    throw FileError(fmt::format("the tensor '{}' has the shape {} but {} asks for {}", name,
                                to_string(source.shape), told_by_, wanted_text(shape)));
  }
  const std::lock_guard lock(mutex_);
  asked_.insert(name);
  Tensor& known = converted_[{name, type}];
  if (!known.defined()) {
    const bool doubles = type == DType::kFloat64 && source.type == WeightType::kF64;
    known = doubles ? as_float64(source) : as_float32(source);
    if (type != known.dtype()) known = known.cast(type);
  }
  return known;
}

std::vector<int64_t> Checkpoint::whole_numbers(const std::string& name) const {
  const StoredTensor& source = stored(name);
  if (source.type != WeightType::kI64 || source.shape.size() != 1) {
    throw FileError(fmt::format("the tensor '{}' of type {} has the shape {}, not whole numbers",
                                name, name_of(source.type), to_string(source.shape)));
  }
  std::vector<int64_t> numbers(source.count());
  if (!numbers.empty())
    std::memcpy(numbers.data(), source.data.view.data(), numbers.size() * sizeof(int64_t));
  const std::lock_guard lock(mutex_);
  asked_.insert(name);
  return numbers;
}

std::vector<std::string> Checkpoint::never_asked() const {
  std::vector<std::string> names;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, tensor] : tensors_) {
    if (!asked_.contains(name)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> Checkpoint::layers_left_out() const {
  std::set<std::string> used, stored, groups;
  const auto group_of = [](const std::string& layer) { return layer.substr(0, layer.rfind('.')); };
  const std::lock_guard lock(mutex_);
  for (const auto& [name, tensor] : tensors_) {
    const bool asked = converted_.contains({name, DType::kFloat32}) ||
                       converted_.contains({name, DType::kFloat64});
    for (const size_t end : ends_of_layers(name)) {
      const std::string layer = name.substr(0, end);
      stored.insert(layer);
      if (!asked) continue;
      used.insert(layer);
      groups.insert(group_of(layer));
    }
  }
  std::vector<std::string> left_out;
  for (const std::string& layer : stored) {
    if (!used.contains(layer) && groups.contains(group_of(layer))) left_out.push_back(layer);
  }
  return left_out;
}

std::vector<std::string> Checkpoint::notes() const {
  constexpr size_t kMostListed = 4;
  std::vector<std::string> layers = layers_left_out();
  if (layers.empty()) return {};
  const size_t count = layers.size();
  layers.resize(std::min(count, kMostListed));
  const std::string more =
      count > kMostListed ? fmt::format(" and {} more", count - kMostListed) : "";
  return {fmt::format(
      "The weights have layers that config.json does not ask for, which are left out: '{}'{}.",
      fmt::join(layers, "', '"), more)};
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

std::shared_ptr<const LinearWeights> Checkpoint::linear(const LinearRows& rows, int64_t in,
                                                        DType type) const {
  return linear_once(fmt::format("{}/{}/{}", rows.weight, rows.first, rows.count), type, [&] {
    Tensor weight, bias;
    weight = rows.transposed ? tensor(rows.weight, {in, -1}, type).transpose(0, 1).contiguous()
                             : tensor(rows.weight, {-1, in}, type);
    const int64_t all = weight.dim(0), count = rows.count < 0 ? all : rows.count;
    if (rows.first < 0 || count < 1 || rows.first > all || count > all - rows.first) {
      throw FileError(fmt::format("the tensor '{}' has {} rows, but rows {} to {} are asked for",
                                  rows.weight, all, rows.first, rows.first + count));
    }
    if (!rows.bias.empty()) {
      bias = tensor(rows.bias, {all}, type).slice(0, rows.first, count).contiguous();
    }
    return std::make_shared<LinearWeights>(weight.slice(0, rows.first, count).contiguous(), bias);
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
