// What the element types are called, how wide they are, and how they become float.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <iterator>

#include "formats/weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

static_assert(std::endian::native == std::endian::little, "weights are used as they are stored");

struct TypeFacts {
  std::string_view name;
  size_t width;
};

// In the order of WeightType.
constexpr TypeFacts kTypes[] = {
    {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8}, {"I32", 4},  {"I16", 2},
    {"I8", 1},  {"U64", 8}, {"U32", 4}, {"U16", 2},  {"U8", 1},  {"BOOL", 1},
};
static_assert(std::size(kTypes) == static_cast<size_t>(WeightType::kBool) + 1);

float from_float32(float value) { return value; }

float from_float64(double value) { return static_cast<float>(value); }

float from_bfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Branch-free so that the loop vectorises. A normal half becomes a float whose exponent is 112 too
// high; a subnormal one, m * 2^-24, is the difference of two floats just above one half.
float from_float16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7fff;
  const float normal = std::bit_cast<float>((magnitude << 13) + (224u << 23)) * 0x1p-112f;
  const float subnormal = std::bit_cast<float>(magnitude | (126u << 23)) - 0.5f;
  const float value = magnitude < 0x0400 ? subnormal : normal;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
}

// The elements may be unaligned: a safetensors header has any length.
template <typename Stored, float (*convert)(Stored)>
void convert_all(std::span<const std::byte> data, float* out) {
  const size_t count = data.size() / sizeof(Stored);
  for (size_t i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, data.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = convert(stored);
  }
}

}  // namespace

size_t width_of(WeightType type) { return kTypes[static_cast<size_t>(type)].width; }

std::string_view name_of(WeightType type) { return kTypes[static_cast<size_t>(type)].name; }

std::optional<WeightType> weight_type_named(std::string_view name) {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i].name == name) return static_cast<WeightType>(i);
  }
  return std::nullopt;
}

void to_float32(const StoredTensor& tensor, float* out) {
  switch (tensor.type) {
    case WeightType::kF32:
      return convert_all<float, from_float32>(tensor.data.view, out);
    case WeightType::kF64:
      return convert_all<double, from_float64>(tensor.data.view, out);
    case WeightType::kF16:
      return convert_all<uint16_t, from_float16>(tensor.data.view, out);
    case WeightType::kBF16:
      return convert_all<uint16_t, from_bfloat16>(tensor.data.view, out);
    default:
      throw UnsupportedModel(fmt::format(
          "a weight is stored as {}; Whyformer computes with F32, F16, BF16 and F64 weights",
          name_of(tensor.type)));
  }
}

std::vector<float> to_float32(const StoredTensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.count()));
  to_float32(tensor, values.data());
  return values;
}

}  // namespace whyformer
