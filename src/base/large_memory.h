// Memory for large arrays that need not stay in the machine's: in a temporary file, which the
// system writes out when memory gets scarce.
#pragma once

#include <cstdint>
#include <memory>

namespace whyformer {

enum class LargeMemory { kResident, kTemporaryFile };

// Zeros. The file has no name, so it goes away with the last owner or with the process; it lies in
// the system's folder for temporary files (TMPDIR). Throws FileError where that has no room.
std::shared_ptr<float[]> large_floats(int64_t count, LargeMemory kind);

}  // namespace whyformer
