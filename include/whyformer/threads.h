// How many threads the library uses. Results do not depend on it.
#pragma once

namespace whyformer {

int threads();
void set_threads(int count);  // from 1 to 1024; throws InvalidInput for others

}  // namespace whyformer
