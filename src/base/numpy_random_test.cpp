#include "base/numpy_random.h"

#include <gmock/gmock.h>

namespace whyformer {
namespace {

using ::testing::ElementsAre;

// Expected numbers: numpy.random.RandomState of NumPy 2.4.
TEST(NumpyRandom, DrawsTheNumbersOfRandomState) {
  EXPECT_DOUBLE_EQ(NumpyRandom(0).uniform(), 0.5488135039273248);
  EXPECT_DOUBLE_EQ(NumpyRandom(0).normal(), 1.764052345967664);
  EXPECT_THAT(NumpyRandom(0).permutation(10), ElementsAre(2, 8, 4, 9, 1, 6, 7, 3, 0, 5));
  EXPECT_THAT(NumpyRandom(42).permutation(10), ElementsAre(8, 1, 5, 0, 7, 2, 9, 4, 3, 6));
}

TEST(NumpyRandom, KeepsTheSecondNormalOverOtherDraws) {
  NumpyRandom random(7);
  EXPECT_DOUBLE_EQ(random.normal(), 1.690525703800356);
  EXPECT_DOUBLE_EQ(random.uniform(), 0.9779895119966027);
  EXPECT_DOUBLE_EQ(random.normal(), -0.4659373705408328);
}

TEST(NumpyRandom, SkipsWhatUniformsWouldTake) {
  NumpyRandom drawn(5), skipped(5);
  for (int i = 0; i < 1000; ++i) drawn.uniform();
  skipped.skip_uniforms(1000);
  EXPECT_EQ(skipped.permutation(20), drawn.permutation(20));
}

TEST(NumpyRandom, ChoosesByShares) {
  NumpyRandom random(3);
  std::vector<int64_t> chosen;
  for (int i = 0; i < 8; ++i) chosen.push_back(random.choose({0.1, 0.4, 1.0}));
  EXPECT_THAT(chosen, ElementsAre(2, 2, 1, 2, 2, 2, 1, 1));
}

}  // namespace
}  // namespace whyformer
