// libjpeg and libpng leave by longjmp when a file is damaged. What they jump over must have nothing
// to destroy, so all that owns something lives outside of the guarded call.
#pragma once

#include <csetjmp>
#include <cstdio>

namespace whyformer::pictures {

class Guard {
 public:
  // Runs `step`; false if it left through `leave`. `step` may hold numbers and pointers only.
  template <typename Step>
  bool run(const Step& step) {
    if (setjmp(jump_) != 0) return false;
    step();
    return true;
  }

  [[noreturn]] void leave() { std::longjmp(jump_, 1); }
  [[noreturn]] void leave(const char* problem) {
    std::snprintf(problem_, sizeof(problem_), "%s", problem);
    leave();
  }

  char* problem() { return problem_; }
  static constexpr size_t kLongestProblem = 256;

 private:
  std::jmp_buf jump_;
  char problem_[kLongestProblem] = "";
};

}  // namespace whyformer::pictures
