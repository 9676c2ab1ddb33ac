// Every operator, as a function that adds it to a graph. Each lives in the file of its name, with
// its value, gradient, relevance and axes. Floats may be 32 or 64 bits; all inputs of a node agree.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "kernels/elementwise.h"
#include "ops/linear_weights.h"

namespace whyformer {

// a + b and a - b with NumPy's broadcasting; 64-bit integers as well.
Value add(GraphBuilder& graph, Value a, Value b, std::string name);
Value subtract(GraphBuilder& graph, Value a, Value b, std::string name);

// f(x), element by element.
Value activation(GraphBuilder& graph, Value x, Activation f, std::string name);

// Tensors one after the other along an axis.
Value concat(GraphBuilder& graph, Value a, Value b, int axis, std::string name);
Value concat(GraphBuilder& graph, std::vector<Value> parts, int axis, std::string name);

// Rows of `table` [rows, width] picked by integer ids: [..., width].
Value embedding(GraphBuilder& graph, Value ids, Tensor table, std::string name);
// The same of whole numbers, which become floats as they are picked.
Value embedding(GraphBuilder& graph, Value ids, std::shared_ptr<const WholeNumbers> table,
                std::string name);

// x / ‖x‖₂ along the last axis.
Value l2_normalise(GraphBuilder& graph, Value x, std::string name);

// (x - mean) / √(variance + epsilon) · weight + bias along the last axis.
struct LayerNormWeights {
  Tensor weight;
  Tensor bias;
  double epsilon = 1e-12;
};
Value layer_norm(GraphBuilder& graph, Value x, LayerNormWeights weights, std::string name);

// x · Wᵀ + bias along the last axis, W a constant [out, in].
Value linear(GraphBuilder& graph, Value x, std::shared_ptr<const LinearWeights> weights,
             std::string name);

// Matrix product over the last two axes; leading axes (at most two) are equal or 1.
Value matmul(GraphBuilder& graph, Value a, Value b, std::string name);

// Mean over one axis, which disappears.
Value mean(GraphBuilder& graph, Value x, int axis, std::string name);

Value reshape(GraphBuilder& graph, Value x, Shape shape, std::string name);
// The same, saying for each new axis which one of x it is, or -1: lengths of 1 leave that open.
Value reshape(GraphBuilder& graph, Value x, Shape shape, std::vector<int> sources,
              std::string name);

// x / √(mean(x²) + epsilon) · weight along the last axis.
Value rms_norm(GraphBuilder& graph, Value x, Tensor weight, double epsilon, std::string name);

// `length` positions of one axis, from `start`.
Value slice(GraphBuilder& graph, Value x, int axis, int64_t start, int64_t length,
            std::string name);

// softmax(scale · scores + mask) along the last axis; `mask` may be invalid (no mask), and is
// broadcast to the scores.
Value softmax(GraphBuilder& graph, Value scores, Value mask, double scale, std::string name);

// Axes in another order.
Value transpose(GraphBuilder& graph, Value x, std::vector<int> order, std::string name);

}  // namespace whyformer
