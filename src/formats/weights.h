// Weight files: safetensors and PyTorch pickles, whole or in shards, read as named tensors.
//
// Files are hostile until checked: every length, offset and shape is compared with what the file
// really holds before it is used, and a pickle can build tensors and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "whyformer/parts.h"

namespace whyformer {

enum class WeightType {
  kF64,
  kF32,
  kF16,
  kBF16,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool
};

// Bytes of one element.
size_t width_of(WeightType type);

// The name safetensors gives the type, such as "F32", and back.
std::string_view name_of(WeightType type);
std::optional<WeightType> weight_type_named(std::string_view name);

// Little-endian elements, contiguous and row-major, exactly product(shape) of them.
// `data` may be a view of the file, unaligned; its owner keeps the file alive.
struct StoredTensor {
  WeightType type = WeightType::kF32;
  std::vector<int64_t> shape;  // empty for a scalar
  Bytes data;

  int64_t count() const { return static_cast<int64_t>(data.size() / width_of(type)); }
};

using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

// `what` names the file in messages. Tensors are views of `file`; nothing is copied.
StoredTensors read_safetensors(const Bytes& file, std::string_view what);

// Reads what torch.save wrote, as a zip (torch 1.6 and later) or in the legacy format. Contiguous
// tensors are views of `file`; strided ones are copied into order. Entries which are not tensors
// are left out. No code in the file is ever run: a global which does not help to build a tensor is
// refused by name.
StoredTensors read_torch_pickle(const Bytes& file, std::string_view what);

// What a training program saved: its weights, and what else it holds.
struct TrainingPickle {
  StoredTensors tensors;
  std::vector<std::string> foreign;  // "package.Class" of each kind of other object, in order
};
// The same of a file that holds objects of other packages beside the weights (optimizers,
// configurations): they are named, and neither made nor called. Refused are such an object among
// the weights, and one that is all there is, as torch.save(model) writes it: that is a program.
TrainingPickle read_training_pickle(const Bytes& file, std::string_view what);

// The weights of a model folder: the first there is of model.safetensors,
// model.safetensors.index.json with its shards, pytorch_model.bin, and
// pytorch_model.bin.index.json with its shards.
StoredTensors read_checkpoint(const FileLookup& files);

// Arrays in memory; nothing is copied. `what` says what they are, in messages. Throws InvalidInput
// for a size that is not that of the shape, and UnsupportedModel for a type that is not known.
StoredTensors stored_tensors(const std::map<std::string, ArrayView, std::less<>>& arrays,
                             const char* what = "weight");

// Gives a model's weights when it is known that they can be used.
using WeightSource = std::function<StoredTensors()>;
WeightSource weights_in(const FileLookup& files);

// Writes count() floats to `out`. F16 and BF16 convert exactly, F64 rounds to nearest; throws
// UnsupportedModel for integers.
void to_float32(const StoredTensor& tensor, float* out);
std::vector<float> to_float32(const StoredTensor& tensor);

struct NamedFloats {
  std::string name;
  std::vector<int64_t> shape;
  std::span<const float> values;  // product(shape) of them
};

// The bytes of a safetensors file which holds the tensors as F32, in the order given.
std::string write_safetensors(std::span<const NamedFloats> tensors);

}  // namespace whyformer
