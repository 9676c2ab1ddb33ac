#include "whyformer/threads.h"

#include "base/parallel.h"

namespace whyformer {

int threads() { return thread_count(); }
void set_threads(int count) { set_thread_count(count); }

}  // namespace whyformer
