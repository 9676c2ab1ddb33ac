// Rows of activations and of gradients, taken from a model in batches.
#pragma once

#include <functional>

#include "run/concept_inputs.h"
#include "whyformer/concepts.h"

namespace whyformer {

// Gets the row of one example at the `slot`-th of the layers asked for.
using TakeRow = std::function<void(int64_t example, size_t slot, std::span<const float> row)>;
using RunsDone = std::function<void(int64_t examples)>;  // may throw to stop

struct RowRequest {
  std::vector<int> layers;
  TokenRows rows = TokenRows::kMean;
  TakeRow take = {};
  RunsDone done = {};
};

// Length of a row at a layer.
int64_t row_width(const ConceptInputs& inputs, int64_t length, int layer, TokenRows rows);

// Runs each example once, no further than the highest of the layers.
void take_activations(const ConceptInputs& inputs, std::span<const int64_t> examples,
                      const RowRequest& request);

// Gradients of one output at the layers. Nothing below the lowest layer is kept for the way back,
// and the way back ends there.
void take_gradients(const ConceptInputs& inputs, std::span<const int64_t> examples, int64_t output,
                    const RowRequest& request);

}  // namespace whyformer
