// Weights of the model that stand inside operators, beside the constants of a graph.
#pragma once

#include <memory>
#include <vector>

#include "graph/op.h"

namespace whyformer {

// What a weight is before training: BERT's own start.
enum class WeightKind {
  kMatrix,  // drawn at random; tables too
  kBias,    // 0
  kScale    // 1
};

struct HeldWeight {
  WeightKind kind = WeightKind::kMatrix;
  Shape shape;
  DType dtype = DType::kFloat32;
};

// An operator whose weights can be exchanged for others.
class HoldsWeights {
 public:
  virtual ~HoldsWeights() = default;

  // Empty where it holds whole numbers, which have no others of the same kind.
  virtual std::vector<HeldWeight> held_weights() const = 0;
  // The operator with weights of the same kinds, shapes and types, in the same order.
  virtual std::shared_ptr<const Op> with_weights(const Tensors& weights) const = 0;
  // It has settings besides its weights that follow the shape of what it reads.
  virtual bool follows_shapes() const { return false; }
};

// Null for an operator without weights, and for one whose weights are rounded with what they meet.
inline const HoldsWeights* weight_holder(const Op& op) {
  const auto* holder = dynamic_cast<const HoldsWeights*>(&op);
  return holder == nullptr || holder->held_weights().empty() ? nullptr : holder;
}

}  // namespace whyformer
