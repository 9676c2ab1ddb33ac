// The commit that the library was built from; embed_commit.cmake defines it.
#pragma once

#include <string_view>

namespace whyformer {

extern const std::string_view kCommit;

}  // namespace whyformer
