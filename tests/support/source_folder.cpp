#include "tests/support/source_folder.h"

namespace whyformer {

// The only test file that knows the path, so that a compiler cache serves the others in every
// clone.
std::filesystem::path source_folder() { return WHYFORMER_SOURCE_DIR; }

}  // namespace whyformer
