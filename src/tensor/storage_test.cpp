#include "tensor/storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace whyformer {
namespace {

TEST(Storage, MemoryOfEverySizeIsUsedAgain) {
  // The size is this test's own where it is large, so that no other block of the pool fits it
  // better.
  for (const size_t bytes :
       {size_t{1}, size_t{8}, size_t{32}, size_t{60}, size_t{100}, size_t{7654321}}) {
    const void* first = allocate(bytes).get();
    bool again = false;
    for (int i = 0; i < 3; ++i) again = again || allocate(bytes).get() == first;
    EXPECT_TRUE(again) << bytes;
  }
}

TEST(Storage, SmallBlocksDoNotPileUp) {
  std::shared_ptr<void> kept[4];
  for (auto& block : kept) block = allocate(24);
  for (auto& block : kept) block.reset();
  // Four blocks serve four at a time, however often.
  std::vector<const void*> seen;
  for (int round = 0; round < 100; ++round) {
    std::shared_ptr<void> now[4];
    for (auto& block : now) {
      block = allocate(24);
      if (std::find(seen.begin(), seen.end(), block.get()) == seen.end())
        seen.push_back(block.get());
    }
  }
  EXPECT_LE(seen.size(), 8u);
}

}  // namespace
}  // namespace whyformer
