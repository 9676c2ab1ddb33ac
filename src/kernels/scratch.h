// A buffer that every thread keeps for itself, so that kernels need not allocate on each call.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <cstdint>

namespace whyformer {

class Scratch {
 public:
  // At least `count` floats, aligned for any vector; their contents are whatever was there before.
  float* floats(int64_t count) {
    if (count > size_) {
      buffer_ = hwy::AllocateAligned<float>(static_cast<size_t>(count));
      size_ = count;
    }
    return buffer_.get();
  }

 private:
  hwy::AlignedFreeUniquePtr<float[]> buffer_;
  int64_t size_ = 0;
};

}  // namespace whyformer
