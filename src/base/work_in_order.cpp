#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

#include "base/parallel.h"
#include "whyformer/threads.h"

namespace whyformer {
namespace {

constexpr std::chrono::milliseconds kShort(100);

class SideBySide {
 public:
  SideBySide(int64_t first, int64_t count, const std::function<void(const PieceOfWork&)>& work,
             const std::function<bool(int64_t)>& finish)
      : at_once_(std::clamp<int64_t>(count - first, 1, thread_count())),
        next_(first),
        unfinished_(first),
        done_(static_cast<size_t>(count), false),
        work_(work),
        finish_(finish) {}

  void run() {
    try {
      parallel_for(at_once_, 1, [this](int64_t, int64_t) { take_turns(); });
    } catch (...) {
      // Behind what threw there may be more that is done.
      for (; unfinished_ < count() && goes_on_; ++unfinished_) {
        if (done_[unfinished_]) goes_on_ = finish_(unfinished_);
      }
      throw;
    }
  }

 private:
  int64_t count() const { return static_cast<int64_t>(done_.size()); }

  void take_turns() {
    while (goes_on_ && !thrown_) {
      const int64_t number = next_++;
      if (number >= count()) return;
      try {
        work_({number, at_once_});
      } catch (...) {
        thrown_ = true;
        throw;
      }
      const std::scoped_lock lock(finishing_);
      done_[number] = true;
      for (; unfinished_ < count() && done_[unfinished_] && goes_on_; ++unfinished_) {
        goes_on_ = finish_(unfinished_);
      }
    }
  }

  const int64_t at_once_;
  std::atomic<int64_t> next_;
  std::atomic<bool> goes_on_ = true, thrown_ = false;
  std::mutex finishing_;  // guards what follows
  int64_t unfinished_;
  std::vector<bool> done_;
  const std::function<void(const PieceOfWork&)>& work_;
  const std::function<bool(int64_t)>& finish_;
};

}  // namespace

void work_in_order(int64_t count, const std::function<void(const PieceOfWork&)>& work,
                   const std::function<bool(int64_t)>& finish) {
  for (int64_t number = 0; number < count; ++number) {
    const auto start = std::chrono::steady_clock::now();
    work({number, 1});
    const bool is_short = std::chrono::steady_clock::now() - start < kShort;
    if (!finish(number)) return;
    if (is_short) return SideBySide(number + 1, count, work, finish).run();
  }
}

}  // namespace whyformer
