// Long work without the interpreter's lock, which Ctrl-C can interrupt.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>

namespace whyformer::python {

// Runs `work` with the lock released. It gets a function to call now and then with what is done and
// the total; that one shows progress (None: nobody looks), notices Ctrl-C, and returns false when
// the work should end. A progress function that returns False ends it, too, with what there is by
// then.
template <class Work>
auto run_long(const nanobind::object& progress, const Work& work) {
  using Clock = std::chrono::steady_clock;
  std::exception_ptr raised;
  bool ended = false;  // by the progress function
  Clock::time_point last{};
  const std::function<bool(int64_t, int64_t)> watch = [&](int64_t done, int64_t total) {
    // Taking the lock costs more than a small batch; people do not see more than 50 pictures a
    // second.
    const auto now = Clock::now();
    if (raised == nullptr && done < total && now - last < std::chrono::milliseconds(20))
      return !ended;
    last = now;
    const nanobind::gil_scoped_acquire lock;
    try {
      if (raised == nullptr && PyErr_CheckSignals() != 0) throw nanobind::python_error();
      if (raised == nullptr && !progress.is_none() && progress(done, total).ptr() == Py_False)
        ended = true;
    } catch (...) {
      raised = std::current_exception();
    }
    return raised == nullptr && !ended;
  };
  // What the user's own function or Ctrl-C raised matters more than what the work made of it.
  try {
    auto result = [&] {
      const nanobind::gil_scoped_release unlocked;
      return work(watch);
    }();
    if (raised == nullptr) return result;
  } catch (...) {
    if (raised == nullptr) throw;
  }
  std::rethrow_exception(raised);
}

}  // namespace whyformer::python
