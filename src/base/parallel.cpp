#include "base/parallel.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace whyformer {
namespace {

constexpr int kMostThreads = 1024;

// Long enough to bridge the serial code between two products of a small model, short enough not to
// burn a core between calls.
constexpr auto kSpinTime = std::chrono::microseconds(50);

// More ranges than threads, so that a thread the system has put aside does not hold up the others.
constexpr int64_t kRangesPerThread = 8;

int initial_thread_count() {
  if (const char* text = std::getenv("WHYFORMER_THREADS")) {
    int count = 0;
    const char* end = text + std::strlen(text);
    const auto [rest, problem] = std::from_chars(text, end, count);
    if (problem == std::errc() && rest == end && count >= 1 && count <= kMostThreads) return count;
  }
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

// Returns once `word` differs from `seen`: first by spinning, then asleep.
uint32_t wait_for_change(const std::atomic<uint32_t>& word, uint32_t seen) {
  const auto give_up = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      const uint32_t now = word.load(std::memory_order_acquire);
      if (now != seen) return now;
      hwy::Pause();
    }
  } while (std::chrono::steady_clock::now() < give_up);
  word.wait(seen, std::memory_order_acquire);
  return word.load(std::memory_order_acquire);
}

// True in a thread that is inside a body: a nested parallel_for then runs where it stands.
thread_local bool inside_body = false;

// One region runs at a time. Its threads claim ranges from a shared counter; a worker that wakes up
// late finds the region closed and goes back to sleep, so nobody ever waits for it.
class ThreadPool {
 public:
  int thread_count() const { return wanted_threads_.load(std::memory_order_relaxed); }
  void set_thread_count(int count) {
    wanted_threads_.store(std::clamp(count, 1, kMostThreads), std::memory_order_relaxed);
  }

  // False if another thread's region is running.
  bool run(int64_t count, int64_t range, int helpers,
           const std::function<void(int64_t, int64_t)>& body) {
    const std::unique_lock lock(region_, std::try_to_lock);
    if (!lock) return false;
    body_ = &body;
    count_ = count;
    range_ = range;
    next_.store(0, std::memory_order_relaxed);
    open_.store(true);
    wake(helpers);
    claim_ranges();
    open_.store(false);
    wait_until_nobody_is_inside();
    if (const std::exception_ptr exception = std::exchange(exception_, nullptr)) {
      std::rethrow_exception(exception);
    }
    return true;
  }

 private:
  // Each on its own cache line, for its worker spins on it.
  struct alignas(64) Worker {
    std::atomic<uint32_t> calls = 0;
  };

  void wake(int helpers) {
    try {
      while (static_cast<int>(workers_.size()) < helpers) start_worker();
    } catch (const std::system_error&) {
      // The system has no more threads to give: those at hand do the work.
      helpers = static_cast<int>(workers_.size());
    }
    for (int i = 0; i < helpers; ++i) {
      workers_[i]->calls.fetch_add(1);
      workers_[i]->calls.notify_one();
    }
  }

  // Workers are never joined: they sleep until the process ends, and the pool outlives them.
  void start_worker() {
    auto worker = std::make_unique<Worker>();
    std::thread([this, calls = &worker->calls] { serve(*calls); }).detach();
    workers_.push_back(std::move(worker));
  }

  void serve(const std::atomic<uint32_t>& calls) {
    for (uint32_t seen = 0;;) {
      seen = wait_for_change(calls, seen);
      inside_.fetch_add(1);
      if (open_.load()) claim_ranges();
      if (inside_.fetch_sub(1) == 1) inside_.notify_one();
    }
  }

  void claim_ranges() {
    inside_body = true;
    for (;;) {
      const int64_t begin = next_.fetch_add(range_, std::memory_order_relaxed);
      if (begin >= count_) break;
      try {
        (*body_)(begin, std::min(begin + range_, count_));
      } catch (...) {
        const std::scoped_lock lock(exception_lock_);
        if (!exception_) exception_ = std::current_exception();
        next_.store(count_, std::memory_order_relaxed);
      }
    }
    inside_body = false;
  }

  // A worker counts itself in before it looks at open_, and open_ is closed before the count is
  // read here: either the worker sees the region closed or its presence is seen.
  void wait_until_nobody_is_inside() {
    for (uint32_t inside = inside_.load(); inside != 0;) {
      inside = wait_for_change(inside_, inside);
    }
  }

  std::atomic<int> wanted_threads_ = initial_thread_count();
  std::mutex region_;
  std::vector<std::unique_ptr<Worker>> workers_;
  const std::function<void(int64_t, int64_t)>* body_ = nullptr;
  int64_t count_ = 0;
  int64_t range_ = 0;
  std::mutex exception_lock_;
  std::exception_ptr exception_;
  alignas(64) std::atomic<int64_t> next_ = 0;
  alignas(64) std::atomic<bool> open_ = false;
  alignas(64) std::atomic<uint32_t> inside_ = 0;
};

// Never destroyed, so that workers may outlive static destructors.
ThreadPool& thread_pool() {
  static ThreadPool* const the_pool = new ThreadPool;
  return *the_pool;
}

}  // namespace

int thread_count() { return thread_pool().thread_count(); }

void set_thread_count(int count) { thread_pool().set_thread_count(count); }

void parallel_for(int64_t count, int64_t grain,
                  const std::function<void(int64_t begin, int64_t end)>& body) {
  if (count <= 0) return;
  const int64_t threads = inside_body ? 1 : thread_count();
  const int64_t most_ranges = threads * kRangesPerThread;
  const int64_t range = std::max({grain, int64_t{1}, (count + most_ranges - 1) / most_ranges});
  const int64_t ranges = (count + range - 1) / range;
  const int helpers = static_cast<int>(std::min(threads, ranges) - 1);
  if (helpers > 0 && thread_pool().run(count, range, helpers, body)) return;
  body(0, count);
}

}  // namespace whyformer
