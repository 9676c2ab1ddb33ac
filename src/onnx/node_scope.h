// What the translation of one ONNX node sees: its inputs as values of the graph being built, its
// attributes, and what is known about both.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "onnx/onnx_file.h"
#include "ops/linear_weights.h"
#include "whyformer/error.h"

namespace whyformer::onnx {

// A value must be known while the graph is built but depends on inputs of the model.
class NeedsValue : public UnsupportedModel {
 public:
  using UnsupportedModel::UnsupportedModel;
};

// The file is at fault, whatever lengths its inputs have.
class FaultyFile : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// State of a translation that nodes share; see translate.cpp.
class Translation;

class NodeScope {
 public:
  NodeScope(Translation& translation, const OnnxNode& node, std::vector<Value> inputs,
            int64_t opset);

  GraphBuilder& graph();
  const OnnxNode& node() const { return node_; }
  std::string name() const { return node_.title(); }
  int64_t opset() const { return opset_; }
  DType floats() const;  // what floats are held as: 32 or 64 bits

  // Inputs. Optional ones that are left out are not `has`.
  size_t count() const { return inputs_.size(); }
  bool has(size_t index) const { return index < inputs_.size() && inputs_[index].valid(); }
  Value input(size_t index) const;  // throws InvalidInput if it is left out
  const Shape& shape(size_t index);
  // The same, of that many axes; throws InvalidInput if there are others.
  const Shape& shape(size_t index, int rank);
  int rank(size_t index) { return static_cast<int>(shape(index).size()); }
  DType dtype(size_t index);
  ElementType element(size_t index);
  const Tensor* known(size_t index);  // null where it depends on the model's inputs
  // Weights of 8 bits that stay bytes (see narrow_weights.h): their numbers are not in what is
  // `known`. Null for every other input. And the same as floats, where bytes are of no use.
  const FileTensor* narrow(size_t index) const;
  Value widened(size_t index);
  // Of inputs that decide shapes. Throw NeedsValue where they are not known.
  const Tensor& needed(size_t index);
  std::vector<int64_t> integers(size_t index);
  double number(size_t index);  // a single one

  // Attributes.
  bool has_attribute(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> integer_list(std::string_view name) const;  // empty if absent
  std::vector<double> real_list(std::string_view name) const;
  const FileTensor* stored(std::string_view name) const;

  // `axis` counted from 0; throws InvalidInput that names the axis if there is none of that rank.
  int axis(int64_t axis, int rank) const;
  // The axes of reductions, Squeeze, Unsqueeze…: an attribute in old opsets, an input in new ones;
  // nothing where they are left out.
  std::optional<std::vector<int64_t>> axes(size_t input_index);

  // Making values.
  Value constant(Tensor tensor);
  Value number_constant(double value, DType dtype);  // a scalar
  // Outputs are of the first input's element type unless said here.
  void set_element(Value value, ElementType type);
  // The weights of a Linear x·W [+ bias], W known [in, out] or, if `transposed`, [out, in]. Made
  // once for all graphs of the model.
  std::shared_ptr<const LinearWeights> linear_weights(const Tensor& weight, bool transposed,
                                                      const Tensor& bias = {});

  // What `make` gives (a shared pointer to const Made), once for all graphs of the model if the
  // tensors that it is made of belong to the file.
  template <typename Made, typename Make>
  std::shared_ptr<const Made> made_once(const std::vector<Tensor>& from, const Make& make) {
    return std::static_pointer_cast<const Made>(made_once_of(from, make));
  }

  [[noreturn]] void fail(const std::string& why) const;  // UnsupportedModel that names the node

 private:
  std::shared_ptr<const void> made_once_of(
      const std::vector<Tensor>& from, const std::function<std::shared_ptr<const void>()>& make);

  Translation& translation_;
  const OnnxNode& node_;
  std::vector<Value> inputs_;
  int64_t opset_;
};

}  // namespace whyformer::onnx
