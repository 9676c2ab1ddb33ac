// Which build of the library this is, and what it uses of this machine.
#pragma once

#include <string>
#include <vector>

namespace whyformer {

std::string version();  // "0.1.0"
std::string commit();   // twelve hexadecimal digits; "unknown" where it was built outside a clone

// Those of the kernels that this processor has, the best first: "AVX2", "SSE4", …
std::vector<std::string> instruction_sets();

}  // namespace whyformer
