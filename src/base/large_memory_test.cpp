#include "base/large_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "whyformer/error.h"

namespace whyformer {
namespace {

TEST(LargeMemory, HoldsZerosAndThenWhatIsWritten) {
  for (const LargeMemory kind : {LargeMemory::kResident, LargeMemory::kTemporaryFile}) {
    const std::shared_ptr<float[]> floats = large_floats(100000, kind);
    EXPECT_EQ(floats[0], 0);
    EXPECT_EQ(floats[99999], 0);
    floats[99999] = 7;
    EXPECT_EQ(floats[99999], 7);
  }
}

TEST(LargeMemory, SaysWhereThereIsNoRoom) {
  EXPECT_THROW(large_floats(int64_t{1} << 58, LargeMemory::kTemporaryFile), FileError);
}

}  // namespace
}  // namespace whyformer
