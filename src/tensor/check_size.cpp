#include "tensor/check_size.h"

#include <fmt/format.h>

#include <algorithm>

#include "whyformer/error.h"

namespace whyformer {

void check_size(const Shape& shape) {
  constexpr int64_t kMostElements = int64_t{1} << 33;
  int64_t count = 1;
  for (const int64_t length : shape) {
    if (length < 0) {
      throw InvalidInput(fmt::format("the shape {} has a negative length", to_string(shape)));
    }
    // Lengths beside one of 0 must not overflow either.
    if (length > kMostElements / count) {
      throw InvalidInput(
          fmt::format("the shape {} has more than {} elements", to_string(shape), kMostElements));
    }
    count *= std::max<int64_t>(length, 1);
  }
}

}  // namespace whyformer
