// A small thread pool. Work is split by index only, so results never depend on the number of
// threads.
#pragma once

#include <cstdint>
#include <functional>

namespace whyformer {

// How many threads parallel_for may use (the caller's included). Starts at the number of cores,
// or at the environment variable WHYFORMER_THREADS.
int thread_count();
void set_thread_count(int count);

// Calls body(begin, end) for disjoint ranges that cover [0, count), each at least `grain` long
// (but for the last). Returns when all are done; rethrows the first exception. A call from inside
// a body runs in the calling thread.
void parallel_for(int64_t count, int64_t grain,
                  const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace whyformer
