// Arrays in memory, as callers hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace whyformer {

// Numbers in rows, the last axis first in memory; little-endian. The data stay as long as a copy of `data` does.
struct ArrayView {
  std::string type;  // as safetensors names it: F64, F32, F16, BF16, I64, I32, I8, U8, BOOL
  std::vector<int64_t> shape;
  std::shared_ptr<const void> data;
  size_t bytes = 0;
};

}  // namespace whyformer
