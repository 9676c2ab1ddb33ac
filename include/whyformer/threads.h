// How many threads the library uses. Results do not depend on it.
#pragma once

#include <cstdint>
#include <functional>

namespace whyformer {

int threads();
void set_threads(int count);  // from 1 to 1024; throws InvalidInput for others

struct PieceOfWork {
  int64_t number = 0;
  int64_t at_once = 1;  // pieces at work together: memory is to be shared among them
};

// Does `work` for 0, 1, … count - 1. Long work has all threads, one after the other. From the first
// that takes less than a tenth of a second on, the rest run side by side, a thread each: short work
// does not fill all threads by itself. `finish` gets the numbers of what is done in increasing
// order, one at a time; false ends the work. If `work` throws, all else that is done is finished
// first.
void work_in_order(int64_t count, const std::function<void(const PieceOfWork&)>& work,
                   const std::function<bool(int64_t)>& finish);

}  // namespace whyformer
