#pragma once

#include <exception>

namespace whyformer {

// The caller's Progress or Watch asked to stop, and there is nothing yet to give.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace whyformer
