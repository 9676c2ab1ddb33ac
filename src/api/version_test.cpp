#include "whyformer/version.h"

#include <gmock/gmock.h>

namespace whyformer {
namespace {

TEST(Version, NamesTheReleaseTheCommitAndTheInstructionSets) {
  EXPECT_THAT(version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(commit(), testing::MatchesRegex("[0-9a-f]+|unknown"));
  EXPECT_FALSE(instruction_sets().empty());
}

}  // namespace
}  // namespace whyformer
