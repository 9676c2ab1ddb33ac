#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "whyformer/threads.h"

namespace whyformer {
namespace {

using std::chrono::milliseconds;

class WorkInOrder : public testing::Test {
 protected:
  void SetUp() override { set_threads(4); }
  void TearDown() override { set_threads(before_); }

  int before_ = threads();
};

std::vector<int64_t> up_to(int64_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST_F(WorkInOrder, FinishesInOrderWhateverTakesLonger) {
  std::vector<int64_t> finished;
  std::atomic<int64_t> at_once = 0, most_at_once = 0;
  work_in_order(
      12,
      [&](const PieceOfWork& piece) {
        most_at_once = std::max<int64_t>(most_at_once, ++at_once);
        EXPECT_LE(at_once, piece.at_once) << "memory is shared among so many";
        if (piece.number > 0) {
          std::this_thread::sleep_for(milliseconds(piece.number % 3 == 1 ? 60 : 5));
        }
        --at_once;
      },
      [&](int64_t number) {
        finished.push_back(number);
        return true;
      });
  EXPECT_EQ(finished, up_to(12));
  EXPECT_GT(most_at_once, 1);
}

TEST_F(WorkInOrder, GivesLongWorkAllThreads) {
  int at_once = 0;
  work_in_order(
      3,
      [&](const PieceOfWork& piece) {
        EXPECT_EQ(++at_once, 1);
        EXPECT_EQ(piece.at_once, 1);
        std::this_thread::sleep_for(milliseconds(110));
        --at_once;
      },
      [](int64_t) { return true; });
}

TEST_F(WorkInOrder, EndsWhereFinishSaysSo) {
  std::vector<int64_t> finished;
  work_in_order(
      1000, [](const PieceOfWork&) {},
      [&](int64_t number) {
        finished.push_back(number);
        return number < 20;
      });
  EXPECT_EQ(finished, up_to(21));
}

TEST_F(WorkInOrder, FinishesWhatIsDoneBeforeItThrows) {
  std::vector<int64_t> finished;
  const auto work = [&](const PieceOfWork& piece) {
    if (piece.number != 5) return;
    std::this_thread::sleep_for(milliseconds(50));  // the others go on meanwhile
    throw std::runtime_error("five");
  };
  const auto finish = [&](int64_t number) {
    finished.push_back(number);
    return true;
  };
  EXPECT_THROW(work_in_order(8, work, finish), std::runtime_error);
  EXPECT_EQ(finished, (std::vector<int64_t>{0, 1, 2, 3, 4, 6, 7}));
}

TEST_F(WorkInOrder, ThrowsFromTheFirstToo) {
  EXPECT_THROW(work_in_order(
                   3, [](const PieceOfWork&) { throw std::runtime_error("zero"); },
                   [](int64_t) { return true; }),
               std::runtime_error);
}

TEST_F(WorkInOrder, HasNothingToDoForNone) {
  work_in_order(0, [](const PieceOfWork&) { FAIL(); }, [](int64_t) { return true; });
}

}  // namespace
}  // namespace whyformer
