#include "base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace whyformer {
namespace {

class ParallelFor : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(before_); }
  const int before_ = thread_count();
};

TEST_P(ParallelFor, VisitsEveryIndexOnce) {
  for (const int64_t count : {0, 1, 2, 3, 7, 64, 1000}) {
    for (const int64_t grain : {0, 1, 2, 5, 100, 5000}) {
      std::vector<std::atomic<int>> visits(count);
      parallel_for(count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++visits[i];
      });
      for (const std::atomic<int>& visit : visits) EXPECT_EQ(visit, 1);
    }
  }
}

TEST_P(ParallelFor, KeepsRangesAtLeastAGrainLongButForTheLast) {
  std::atomic<bool> good = true;
  parallel_for(100, 7, [&](int64_t begin, int64_t end) {
    if (end - begin < 7 && end != 100) good = false;
  });
  EXPECT_TRUE(good);
}

TEST_P(ParallelFor, ManySmallRegionsInARowAllFinish) {
  int64_t total = 0;
  for (int region = 0; region < 3000; ++region) {
    std::vector<int64_t> sums(8, 0);
    parallel_for(8, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sums[i] = i;
    });
    total += std::accumulate(sums.begin(), sums.end(), int64_t{0});
  }
  EXPECT_EQ(total, 3000 * 28);
}

TEST_P(ParallelFor, ANestedCallRunsInTheCallingThread) {
  std::atomic<int> visits = 0;
  std::atomic<bool> same_thread = true;
  parallel_for(6, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const std::thread::id caller = std::this_thread::get_id();
      parallel_for(10, 1, [&](int64_t inner_begin, int64_t inner_end) {
        if (std::this_thread::get_id() != caller) same_thread = false;
        visits += static_cast<int>(inner_end - inner_begin);
      });
    }
  });
  EXPECT_EQ(visits, 60);
  EXPECT_TRUE(same_thread);
}

TEST_P(ParallelFor, RethrowsWhatABodyThrewAndStaysUsable) {
  const auto throwing = [](int64_t begin, int64_t end) {
    if (begin <= 5 && 5 < end) throw std::runtime_error("index 5");
  };
  for (int repeat = 0; repeat < 100; ++repeat) {
    EXPECT_THROW(parallel_for(16, 1, throwing), std::runtime_error);
    std::atomic<int64_t> visits = 0;
    parallel_for(16, 1, [&](int64_t begin, int64_t end) { visits += end - begin; });
    EXPECT_EQ(visits, 16);
  }
}

TEST_P(ParallelFor, CallsFromSeveralThreadsDoNotDisturbEachOther) {
  std::atomic<int64_t> visits = 0;
  const auto user = [&] {
    for (int repeat = 0; repeat < 500; ++repeat) {
      parallel_for(20, 1, [&](int64_t begin, int64_t end) { visits += end - begin; });
    }
  };
  std::thread first(user), second(user);
  user();
  first.join();
  second.join();
  EXPECT_EQ(visits, 3 * 500 * 20);
}

TEST_P(ParallelFor, TheThreadCountMayChangeBetweenAndInsideRegions) {
  std::atomic<int64_t> visits = 0;
  for (int repeat = 0; repeat < 50; ++repeat) {
    set_thread_count(1 + repeat % 4);
    parallel_for(12, 1, [&](int64_t begin, int64_t end) {
      set_thread_count(1 + static_cast<int>(begin) % 3);
      visits += end - begin;
    });
  }
  EXPECT_EQ(visits, 50 * 12);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, testing::Values(1, 2, 3, 7));

TEST(ThreadCount, IsAtLeastOneWhateverIsAsked) {
  const int before = thread_count();
  set_thread_count(0);
  EXPECT_EQ(thread_count(), 1);
  set_thread_count(-3);
  EXPECT_EQ(thread_count(), 1);
  set_thread_count(before);
}

TEST(ThreadCount, OneThreadMeansTheCallingThread) {
  const int before = thread_count();
  set_thread_count(1);
  const std::thread::id caller = std::this_thread::get_id();
  parallel_for(100, 1, [&](int64_t, int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
  set_thread_count(before);
}

// The variable is read once per process, so each value needs a process of its own.
[[noreturn]] void exit_with_thread_count(const char* value) {
  setenv("WHYFORMER_THREADS", value, 1);
  std::exit(thread_count());
}

TEST(ThreadCountDeathTest, ComesFromTheEnvironmentUnlessItIsNonsense) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto exits_with = [](int count) { return testing::ExitedWithCode(count); };
  EXPECT_EXIT(exit_with_thread_count("3"), exits_with(3), "");
  for (const char* nonsense : {"", "0", "-2", "many", "3x", "99999999999999"}) {
    EXPECT_EXIT(exit_with_thread_count(nonsense), exits_with(cores), "");
  }
}

TEST(ThreadCountDeathTest, AProcessThatUsedThePoolExitsCleanly) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto use_pool_and_exit = [] {
    set_thread_count(4);
    parallel_for(64, 1, [](int64_t, int64_t) {});
    std::exit(0);
  };
  EXPECT_EXIT(use_pool_and_exit(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace whyformer
