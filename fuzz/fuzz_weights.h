// What both weight readers must hold to, whatever the bytes.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/weights.h"
#include "whyformer/error.h"

namespace whyformer {

// Reads the bytes as weights and every element of them. Stops the program when the size of a tensor
// is not that of its shape.
template <typename Reader>
void read_hostile_weights(Reader read, const uint8_t* data, size_t size) {
  try {
    const std::string copy(reinterpret_cast<const char*>(data), size);
    for (const auto& [name, tensor] : read(bytes_of(copy), "fuzz")) {
      uint64_t count = 1;
      for (const int64_t dimension : tensor.shape) count *= static_cast<uint64_t>(dimension);
      if (count * width_of(tensor.type) != tensor.data.size()) std::abort();
      const auto first = static_cast<int>(WeightType::kF64);
      const auto last = static_cast<int>(WeightType::kBF16);
      const auto type = static_cast<int>(tensor.type);
      if (first <= type && type <= last) to_float32(tensor);
    }
  } catch (const Error&) {
  }
}

}  // namespace whyformer
