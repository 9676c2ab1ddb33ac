// The contract of an operator: how shapes follow, its value, its gradient and its relevance rule,
// and which axes it carries through. Operators are immutable and shared between graphs.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "graph/rule.h"
#include "tensor/tensor.h"

namespace whyformer {

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

// What the outputs of an operator follow of what is explained. Numbers made from integers (a mask
// from ids, say) do not follow them; rows of a table picked by them do.
enum class DependsOn { kNumbers, kNumbersAndIntegers, kNothing };

class OpPair;

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

  virtual DependsOn depends_on() const { return DependsOn::kNumbers; }

  // Whether a graph that folds computes it at once where all inputs are constants.
  virtual bool folds(ValueTypes /*inputs*/) const { return true; }
};

// A string literal as a template argument.
template <size_t kSize>
struct OpName {
  // Not explicit: NamedOp<"Concat"> is how it is written.
  consteval OpName(const char (&literal)[kSize]) { std::copy_n(literal, kSize, text); }
  char text[kSize];
};

// A type of operator: other code asks for the type (see is_a), policies and `inspect` for the name.
template <OpName kName, class Base = Op>
class NamedOp : public Base {
 public:
  using Base::Base;
  static constexpr std::string_view kKind{kName.text, sizeof(kName.text) - 1};
  std::string_view kind() const final { return kKind; }
};

// Whether the operator is of one of these types. A type's name lies in one place: rewrites ask
// thousands of times, and dynamic_cast would be a third of their work.
template <class... Types>
bool is_a(const Op& op) {
  const char* name = op.kind().data();
  return (... || (name == Types::kKind.data()));
}

// The operator as one of that type, with what only that type has; null if it is none.
template <class Type>
const Type* op_as(const Op& op) {
  static_assert(!std::is_final_v<Type>, "a class that implements a type has the type's name");
  return is_a<Type>(op) ? static_cast<const Type*>(&op) : nullptr;
}

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
