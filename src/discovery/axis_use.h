// What an axis of an input is to a model: a batch, whose positions never meet, or tokens, which
// attention brings together.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace whyformer {

// Whether some softmax of the graph goes into a matrix product.
bool has_attention(const Graph& graph);

// Follows the positions of one axis of an input through the graph: of one longer than 1, or of the
// first as far as nothing reshapes it before others are put beside it.
class AxisUse {
 public:
  AxisUse(const Graph& graph, Value input, int axis);

  // Each position goes its own way to everything that depends on it.
  bool stays_apart() const { return stays_apart_; }

  // Attention goes from one position to the others.
  bool has_attention() const { return has_attention_; }

  // A Linear takes them as its numbers.
  bool is_of_features() const { return is_of_features_; }

  // Where the positions are in that value, if they have an axis for themselves there.
  std::optional<int> axis_in(Value value) const;

  // Position p is where p = i / inner % length, for the index i along the axis: others may share
  // it, as heads share the axis of a batch.
  struct Positions {
    int axis = 0;
    int64_t inner = 1;
    int64_t length = 1;  // others may be put beside the positions
    bool operator==(const Positions&) const = default;
  };

  // Where the positions are in that value; none where it does not depend on them, or mixes them.
  const std::vector<Positions>& positions_in(Value value) const { return positions_[value.id]; }

 private:
  void follow(const Node& node);
  static std::optional<Positions> through_reshape(const Positions& at, const Shape& from,
                                                  const Shape& to);
  std::vector<Positions> through(const Node& node, size_t input, const Positions& at) const;

  const Graph& graph_;
  int64_t length_;
  std::vector<std::vector<Positions>> positions_;  // by value
  bool stays_apart_ = true, has_attention_ = false, is_of_features_ = false;
};

}  // namespace whyformer
