#include "whyformer/threads.h"

#include <fmt/format.h>

#include "base/parallel.h"
#include "whyformer/error.h"

namespace whyformer {

int threads() { return thread_count(); }

void set_threads(int count) {
  constexpr int kMost = 1024;
  if (count < 1 || count > kMost)
    throw InvalidInput(fmt::format("{} threads: give a number from 1 to {}", count, kMost));
  set_thread_count(count);
}

}  // namespace whyformer
