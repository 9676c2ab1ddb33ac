// From the bytes of a file to the engine's types.
#include <fmt/format.h>

#include <cstring>

#include "formats/weights.h"
#include "onnx/onnx_file.h"
#include "whyformer/error.h"

namespace whyformer::onnx {
namespace {

// Elements may be unaligned in the file.
template <typename Stored, typename Held>
void convert(std::span<const std::byte> data, Tensor& result) {
  Held* out = result.mutable_data<Held>();
  const int64_t count = result.size();
  for (int64_t i = 0; i < count; ++i) {
    Stored element;
    std::memcpy(&element, data.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = static_cast<Held>(element);
  }
}

// Whatever a byte holds, the engine knows 0 and 1.
template <typename Held>
void convert_truths(std::span<const std::byte> data, Tensor& result) {
  Held* out = result.mutable_data<Held>();
  for (int64_t i = 0; i < result.size(); ++i) out[i] = data[i] != std::byte{0} ? 1 : 0;
}

template <typename Held>
void convert_nibbles(std::span<const std::byte> data, bool is_signed, Tensor& result) {
  Held* out = result.mutable_data<Held>();
  for (int64_t i = 0; i < result.size(); ++i) {
    const int byte = std::to_integer<int>(data[i / 2]);
    const int nibble = i % 2 == 0 ? byte & 15 : byte >> 4;
    out[i] = static_cast<Held>(is_signed && nibble > 7 ? nibble - 16 : nibble);
  }
}

template <typename Held>
void convert_to(ElementType type, std::span<const std::byte> data, Tensor& result) {
  switch (type) {
    case ElementType::kFloat:
      return convert<float, Held>(data, result);
    case ElementType::kDouble:
      return convert<double, Held>(data, result);
    case ElementType::kUint8:
      return convert<uint8_t, Held>(data, result);
    case ElementType::kInt8:
      return convert<int8_t, Held>(data, result);
    case ElementType::kUint16:
      return convert<uint16_t, Held>(data, result);
    case ElementType::kInt16:
      return convert<int16_t, Held>(data, result);
    case ElementType::kInt32:
      return convert<int32_t, Held>(data, result);
    case ElementType::kUint32:
      return convert<uint32_t, Held>(data, result);
    case ElementType::kInt64:
      return convert<int64_t, Held>(data, result);
    case ElementType::kUint64:
      return convert<uint64_t, Held>(data, result);
    case ElementType::kBool:
      return convert_truths<Held>(data, result);
    case ElementType::kUint4:
      return convert_nibbles<Held>(data, false, result);
    case ElementType::kInt4:
      return convert_nibbles<Held>(data, true, result);
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      break;  // done below
  }
}

Tensor from_half(const FileTensor& stored) {
  Tensor result = Tensor::empty(stored.shape, DType::kFloat32);
  const auto type = stored.type == ElementType::kFloat16 ? WeightType::kF16 : WeightType::kBF16;
  to_float32(whyformer::StoredTensor{type, stored.shape, stored.data},
             result.mutable_data<float>());
  return result;
}

bool is_aligned(const FileTensor& stored) {
  return reinterpret_cast<uintptr_t>(stored.data.view.data()) % alignof(double) == 0;
}

}  // namespace

Tensor FileTensor::tensor(DType floats) const {
  const DType held = held_as(type, floats);
  const bool as_stored = (type == ElementType::kFloat && held == DType::kFloat32) ||
                         (type == ElementType::kDouble && held == DType::kFloat64) ||
                         type == ElementType::kInt64;
  if (as_stored && is_aligned(*this) && data.size() > 0) {
    // Constants are never the sole owners of their memory, so nobody writes into it.
    const auto owner = std::const_pointer_cast<void>(data.owner);
    return Tensor::wrap(shape, held, owner, const_cast<std::byte*>(data.view.data()));
  }
  if (type == ElementType::kFloat16 || type == ElementType::kBfloat16) {
    return from_half(*this).cast(held);
  }
  Tensor result = Tensor::empty(shape, held);
  if (held == DType::kFloat32) convert_to<float>(type, data.view, result);
  if (held == DType::kFloat64) convert_to<double>(type, data.view, result);
  if (held == DType::kInt64) convert_to<int64_t>(type, data.view, result);
  return result;
}

}  // namespace whyformer::onnx
