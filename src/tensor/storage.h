// Memory for tensors: 64-byte aligned blocks that are kept for reuse, because the page faults of
// fresh memory cost as much as the arithmetic done in it.
#pragma once

#include <cstddef>
#include <memory>

namespace whyformer {

// Uninitialised memory; goes back to the pool when the last owner lets go. Safe from any thread.
std::shared_ptr<void> allocate(size_t bytes);

}  // namespace whyformer
