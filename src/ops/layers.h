// The operators that transformers are made of. Floats may be 32 or 64 bits; all inputs of a node
// agree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "kernels/elementwise.h"
#include "ops/linear_weights.h"

namespace whyformer {

// Neighbouring positions of one axis.
struct SlicedRows {
  int axis = 0;
  int64_t start = 0;
  int64_t length = 0;
};

// (x - mean) / √(variance + epsilon) · weight + bias along the last axis.
struct LayerNormWeights {
  Tensor weight;
  Tensor bias;
  double epsilon = 1e-12;
};

namespace ops {

struct Add : NamedOp<"Add"> {};
struct Sub : NamedOp<"Sub"> {};
struct Concat : NamedOp<"Concat"> {};
struct Embedding : NamedOp<"Embedding"> {};
struct L2Normalise : NamedOp<"L2Normalise"> {};
struct Mean : NamedOp<"Mean"> {};
struct Reshape : NamedOp<"Reshape"> {};
struct RmsNorm : NamedOp<"RmsNorm"> {};

struct Activation : NamedOp<"Activation"> {
  virtual ActivationFunction function() const = 0;
};

struct LayerNorm : NamedOp<"LayerNorm"> {
  virtual const LayerNormWeights& weights() const = 0;
};

// Those of rounded numbers as well, whose weights are then the floats that they stand for.
struct Linear : NamedOp<"Linear"> {
  virtual const LinearWeights& weights() const = 0;
};

struct MatMul : NamedOp<"MatMul"> {
  // A map made of weights alone is still a map: products of two stacks stay.
  bool folds(ValueTypes inputs) const final {
    return inputs[0].shape.size() < 3 || inputs[1].shape.size() < 3;
  }
  // This product with its output in that memory order, or that of its axes for an empty one; null
  // if it cannot choose.
  virtual std::shared_ptr<const Op> in_order(const std::vector<int>& /*order*/) const {
    return nullptr;
  }
};

struct Slice : NamedOp<"Slice"> {
  virtual const SlicedRows& rows() const = 0;
};

struct Softmax : NamedOp<"Softmax"> {
  bool folds(ValueTypes) const final { return false; }  // see MatMul
  virtual double scale() const = 0;                     // what it multiplies its scores by
};

struct Transpose : NamedOp<"Transpose"> {
  virtual const std::vector<int>& order() const = 0;
};

}  // namespace ops

// What the operator has if it is of the type that has it, else nothing: the function of an
// Activation, the weights of a Linear and of a LayerNorm, the positions of a Slice, the order of a
// Transpose.
std::optional<ActivationFunction> activation_function(const Op& op);
const LinearWeights* linear_weights(const Op& op);
const LayerNormWeights* layer_norm_weights(const Op& op);
std::optional<SlicedRows> sliced_rows(const Op& op);
std::vector<int> axis_order(const Op& op);

// a + b and a - b with NumPy's broadcasting; 64-bit integers as well.
Value add(GraphBuilder& graph, Value a, Value b, std::string name);
Value subtract(GraphBuilder& graph, Value a, Value b, std::string name);

// f(x), element by element.
Value activation(GraphBuilder& graph, Value x, ActivationFunction f, std::string name);

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
