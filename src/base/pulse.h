// Whether long work should go on, asked from deep inside it.
#pragma once

#include <chrono>
#include <functional>

namespace whyformer {

// While one lives, pulse() on its thread asks `goes_on` now and then. The innermost counts; an
// empty function leaves it to the one around.
class PulseScope {
 public:
  explicit PulseScope(std::function<bool()> goes_on,
                      std::chrono::milliseconds between = kBetweenQuestions);
  ~PulseScope();
  PulseScope(const PulseScope&) = delete;
  PulseScope& operator=(const PulseScope&) = delete;

 private:
  friend void pulse();

  // People take what answers sooner for answered at once.
  static constexpr std::chrono::milliseconds kBetweenQuestions{25};

  std::function<bool()> goes_on_;
  std::chrono::milliseconds between_;
  PulseScope* outer_;
  std::chrono::steady_clock::time_point asked_;
};

// For loops that may take longer than people wait; costs next to nothing. Throws Interrupted where
// the work should end. Does nothing without a scope, as in the threads of parallel_for that are not
// the caller's.
void pulse();

}  // namespace whyformer
