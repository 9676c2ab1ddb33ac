#include "readers/array_file.h"

#include <fmt/format.h>

#include <cstring>

#include "formats/weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// An array of the file as the engine holds it: floats of 32 bits, or of 64 where it has them, or
// integers of 64.
Tensor tensor_from(const StoredTensor& stored, const std::string& name) {
  switch (stored.type) {
    case WeightType::kF64: {
      Tensor tensor = Tensor::empty(stored.shape, DType::kFloat64);
      std::memcpy(tensor.mutable_data<double>(), stored.data.view.data(), stored.data.size());
      return tensor;
    }
    case WeightType::kF32:
    case WeightType::kF16:
    case WeightType::kBF16: {
      Tensor tensor = Tensor::empty(stored.shape, DType::kFloat32);
      to_float32(stored, tensor.mutable_data<float>());
      return tensor;
    }
    default:
      break;
  }
  Tensor tensor = Tensor::empty(stored.shape, DType::kInt64);
  int64_t* out = tensor.mutable_data<int64_t>();
  const auto convert = [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      T element;
      std::memcpy(&element, stored.data.view.data() + i * sizeof(T), sizeof(T));
      out[i] = static_cast<int64_t>(element);
    }
  };
  switch (stored.type) {
    case WeightType::kI64:
      convert(int64_t{});
      break;
    case WeightType::kI32:
      convert(int32_t{});
      break;
    case WeightType::kI16:
      convert(int16_t{});
      break;
    case WeightType::kI8:
      convert(int8_t{});
      break;
    case WeightType::kU32:
      convert(uint32_t{});
      break;
    case WeightType::kU16:
      convert(uint16_t{});
      break;
    case WeightType::kU8:
    case WeightType::kBool:
      convert(uint8_t{});
      break;
    default:
      throw InvalidInput(fmt::format("the array '{}' has a type that no input takes", name));
  }
  return tensor;
}

}  // namespace

ArrayViews read_array_views(const std::filesystem::path& path) {
  ArrayViews views;
  for (const auto& [name, stored] : read_safetensors(map_file(path), path.filename().string())) {
    views[name] = {std::string(name_of(stored.type)), stored.shape,
                   std::shared_ptr<const void>(stored.data.owner, stored.data.view.data()),
                   stored.data.size()};
  }
  return views;
}

NamedArrays tensors_of(const ArrayViews& views) {
  NamedArrays arrays;
  for (const auto& [name, stored] : stored_tensors(views, "array"))
    arrays[name] = tensor_from(stored, name);
  return arrays;
}

NamedArrays read_arrays(const std::filesystem::path& path) {
  return tensors_of(read_array_views(path));
}

}  // namespace whyformer
