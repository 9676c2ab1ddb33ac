// The contract of an operator: how shapes follow, its value, its gradient and its relevance rule,
// and which axes it carries through. Operators are immutable and shared between graphs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/rule.h"
#include "tensor/tensor.h"

namespace whyformer {

// Defined in kernels/elementwise.h, ops/linear_weights.h and ops/ops.h.
enum class Activation;
class LinearWeights;
struct LayerNormWeights;

// Shape and element type of a value, known while the graph is built.
struct ValueType {
  Shape shape;
  DType dtype = DType::kFloat32;
};
using ValueTypes = std::span<const ValueType>;

// One evaluation of an operator, as its backward rules see it. Tensors that the operator did not
// ask to be kept (see Op::backward_needs) are undefined; types are always there.
struct Call {
  ValueTypes input_types;
  TensorSpan inputs;
  TensorSpan outputs;
  TensorSpan kept;  // what forward left for the way back
};

// For which inputs a backward rule must give a result; the others' results stay undefined.
using Wanted = std::vector<bool>;

// What forward may leave for the way back.
enum class KeepForBackward { kNo, kYes };

struct Forward {
  Tensors outputs;
  Tensors kept;
};

// Which forward values the gradient reads.
struct BackwardNeeds {
  bool inputs = false;
  bool outputs = false;
};

// Where an output axis comes from: for each input the axis whose positions it shares, or -1.
struct AxisFlow {
  std::vector<int> sources;
  bool independent = true;  // position p of the output depends on position p of those inputs only
};

class OpPair;

// Neighbouring positions of one axis.
struct SlicedRows {
  int axis = 0;
  int64_t start = 0;
  int64_t length = 0;
};

class Op {
 public:
  virtual ~Op() = default;
  virtual std::string_view kind() const = 0;

  // Checks the inputs and gives the outputs' types. Throws InvalidInput that names both sizes; the
  // builder puts the node's name in front.
  virtual std::vector<ValueType> infer(ValueTypes inputs) const = 0;

  // Inputs are moved in where nobody needs them later, so a sole owner's memory may be reused.
  virtual Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const = 0;

  virtual BackwardNeeds backward_needs() const { return {}; }

  // Gradient to each wanted input, from the gradients of the outputs.
  virtual Tensors gradient(const Call& call, TensorSpan d_outputs, const Wanted& wanted) const = 0;

  // The gradient with everything that only normalises held constant: a norm's deviation, the ratio
  // f(x)/x of an element-wise function. Equals `gradient` for what is linear.
  virtual Tensors linearised(const Call& call, TensorSpan d_outputs, const Wanted& wanted) const {
    return gradient(call, d_outputs, wanted);
  }

  // Relevance of each wanted input, from that of the outputs; undefined where none arrives. By
  // default the rules that need nothing but `linearised`. Needs inputs and outputs of the call.
  // Throws InvalidInput for a rule that has no meaning for this operator.
  virtual Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                            const Wanted& wanted) const;

  // It only says where elements come from (reshape, slice, concat): relevance goes back to there,
  // whatever the rule.
  virtual bool moves_data() const { return false; }

  // Where axis `axis` of output 0 comes from; nothing if it is new or mixes several axes.
  virtual std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const = 0;

  // What attention discovery and rewrites look for; most operators are neither.
  virtual bool is_softmax() const { return false; }   // along the last axis
  virtual double softmax_scale() const { return 1; }  // what it multiplies its scores by
  virtual std::optional<SlicedRows> sliced_rows() const { return std::nullopt; }

  // Of a slice: the slice of other rows.
  virtual std::shared_ptr<const Op> slicing(const SlicedRows& /*rows*/) const { return nullptr; }

  // What a constant holds; null for every other operator.
  virtual const Tensor* constant_value() const { return nullptr; }

  // The axes over which a reduction runs; empty for every other operator. And the reduction over
  // others, in ascending order.
  virtual std::vector<int> reduced_axes() const { return {}; }
  virtual std::shared_ptr<const Op> reducing(std::vector<int> /*axes*/) const { return nullptr; }

  // The order in which a transposition puts its input's axes; empty for every other operator.
  virtual std::vector<int> axis_order() const { return {}; }

  // This operator writing its output in that memory order (see Tensor::empty_in_order), so that the
  // transposition after it is contiguous; null if it cannot choose.
  virtual std::shared_ptr<const Op> writing_in_order(const std::vector<int>& /*order*/) const {
    return nullptr;
  }

  // Constants of a Linear and of a LayerNorm, and what an Activation applies, for methods that take
  // layers apart; nothing for every other operator.
  virtual const LinearWeights* linear_weights() const { return nullptr; }
  virtual const LayerNormWeights* layer_norm_weights() const { return nullptr; }
  virtual std::optional<Activation> activation_function() const { return std::nullopt; }

  // This operator and its only reader `next`, of which it makes the first input, in one step; null
  // where that is not faster. Only for an operator that leaves nothing for the way back.
  virtual std::shared_ptr<const OpPair> followed_by(
      const std::shared_ptr<const Op>& /*next*/) const {
    return nullptr;
  }

  // This operator for an output whose axis has another length; null if it does not store shapes.
  virtual std::shared_ptr<const Op> resized(int /*axis*/, int64_t /*length*/) const {
    return nullptr;
  }
};

// Two operators in one step, so that what lies between them stays in the caches or is never made.
// Inputs are those of the first and then those of the second but for its first.
class OpPair {
 public:
  virtual ~OpPair() = default;

  // What the second operator's forward gives and keeps.
  virtual Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const = 0;

  // Whether gradients are also faster together.
  virtual bool has_gradient() const { return false; }

  // Gradient to each wanted input of the pair; the call's outputs and kept tensors are the
  // second's.
  virtual Tensors gradient(const Call& /*call*/, TensorSpan /*d_outputs*/,
                           const Wanted& /*wanted*/) const {
    return {};
  }
};

// The first input's memory if nobody else needs it and it fits, else fresh memory.
Tensor reuse_or_allocate(Tensor& input, const ValueType& output);

}  // namespace whyformer
