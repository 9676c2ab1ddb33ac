#include "base/pulse.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/parallel.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

void pulse_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) pulse();
}

TEST(Pulse, EndsWorkThatShouldNotGoOn) {
  const PulseScope scope([] { return false; });
  EXPECT_THROW(pulse_for(std::chrono::seconds(30)), Interrupted);
}

TEST(Pulse, AsksSeldom) {
  int asked = 0;
  const PulseScope scope([&] { return ++asked > 0; });
  pulse_for(std::chrono::milliseconds(350));
  EXPECT_GE(asked, 1);
  EXPECT_LE(asked, 14);
}

TEST(Pulse, OfTheInnermostScopeCounts) {
  const PulseScope outer([] { return false; });
  {
    const PulseScope inner([] { return true; });
    EXPECT_NO_THROW(pulse_for(std::chrono::milliseconds(150)));
  }
  EXPECT_THROW(pulse_for(std::chrono::seconds(30)), Interrupted);
}

TEST(Pulse, MeansNothingToOtherThreads) {
  const PulseScope scope([] { return false; });
  std::thread([] { EXPECT_NO_THROW(pulse_for(std::chrono::milliseconds(150))); }).join();
}

TEST(Pulse, EndsAParallelLoop) {
  const PulseScope scope([] { return false; });
  EXPECT_THROW(
      parallel_for(1000, 1, [](int64_t, int64_t) { pulse_for(std::chrono::milliseconds(200)); }),
      Interrupted);
}

}  // namespace
}  // namespace whyformer
