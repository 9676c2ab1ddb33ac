// What only some operators can do, each asked for by its type. A graph asks a few times for each
// node while it is built, so that a dynamic_cast costs nothing that anybody would notice.
#pragma once

#include <memory>

#include "graph/op.h"

namespace whyformer {

// Can write its output in the memory order (see Tensor::empty_in_order) that suits its only reader:
// a transposition behind it is then contiguous.
class ChoosesOrder {
 public:
  virtual ~ChoosesOrder() = default;

  // Null where the reader asks for no order, or for one that it cannot write.
  virtual std::shared_ptr<const Op> written_for(const Op& reader) const = 0;
};

// Can run in one step with its only reader, of which it makes the first input. Only for an operator
// that leaves nothing for the way back.
class RunsWithReader {
 public:
  virtual ~RunsWithReader() = default;

  // Null where that is not faster.
  virtual std::shared_ptr<const OpPair> followed_by(
      const std::shared_ptr<const Op>& reader) const = 0;
};

// Stores the shape of its output.
class StoresShape {
 public:
  virtual ~StoresShape() = default;

  // The operator for an output whose axis has another length.
  virtual std::shared_ptr<const Op> resized(int axis, int64_t length) const = 0;
};

// The operator's ability; null where it has none.
template <class Ability>
const Ability* able_to(const Op& op) {
  return dynamic_cast<const Ability*>(&op);
}

}  // namespace whyformer
