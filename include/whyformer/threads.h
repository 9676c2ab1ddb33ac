// How many threads the library uses. Results do not depend on it.
#pragma once

namespace whyformer {

int threads();
void set_threads(int count);

}  // namespace whyformer
