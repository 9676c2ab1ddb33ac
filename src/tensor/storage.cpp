#include "tensor/storage.h"

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

namespace whyformer {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMostPooled = size_t{1} << 30;

// A block may serve a request down to 7/8 of its size, so that sizes close to each other share
// blocks.
class MemoryPool {
 public:
  void* take(size_t& bytes) {
    // Blocks have such sizes; without this, small requests would find none of them close enough.
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    {
      const std::lock_guard lock(mutex_);
      const auto found = free_.lower_bound(bytes);
      if (found != free_.end() && found->first <= bytes + bytes / 7) {
        void* block = found->second;
        bytes = found->first;
        pooled_ -= found->first;
        free_.erase(found);
        return block;
      }
    }
    const size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
    void* block = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (block == nullptr) throw std::bad_alloc();
    if (bytes >= kHugePage) madvise(block, bytes, MADV_HUGEPAGE);
    return block;
  }

  void give_back(void* block, size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (pooled_ + bytes > kMostPooled) {
      std::free(block);
      return;
    }
    pooled_ += bytes;
    free_.emplace(bytes, block);
  }

 private:
  std::mutex mutex_;
  std::multimap<size_t, void*> free_;
  size_t pooled_ = 0;
};

// Never destroyed: tensors of static lifetime may outlive any static pool.
MemoryPool& memory_pool() {
  static MemoryPool* const instance = new MemoryPool;
  return *instance;
}

}  // namespace

std::shared_ptr<void> allocate(size_t bytes) {
  if (bytes == 0) bytes = 1;
  void* block = memory_pool().take(bytes);
  return {block, [bytes](void* memory) { memory_pool().give_back(memory, bytes); }};
}

}  // namespace whyformer
