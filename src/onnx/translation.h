// Building one graph from a file: which value of the graph each name of the file stands for.
#pragma once

#include <set>
#include <unordered_map>

#include "onnx/node_scope.h"
#include "onnx/onnx_model.h"

namespace whyformer::onnx {

class Translation {
 public:
  Translation(const OnnxModel& model, const BuildRequest& request);

  BuiltGraph build();

  // For NodeScope.
  GraphBuilder& graph() { return graph_; }
  DType floats() const { return request_.floats; }
  ElementType element(Value value) const;
  void set_element(Value value, ElementType type) { elements_[value.id] = type; }
  // The bytes of a constant whose numbers are not there; null for every other value.
  const FileTensor* narrow(Value value) const;
  bool is_independent(Value value) const { return independent_.contains(value.id); }  // of inputs
  std::shared_ptr<const LinearWeights> linear_weights(const Tensor& weight, bool transposed,
                                                      const Tensor& bias);
  const OnnxModel& model() const { return model_; }

 private:
  // Names of one graph or function body; those of the graph around it can be read too.
  struct Names {
    const FileGraph* graph = nullptr;  // its initialisers; null for a function
    const Names* outer = nullptr;
    const std::map<std::string, int64_t, std::less<>>* opsets = nullptr;
    std::unordered_map<std::string, Value> values;  // invalid where an optional input is left out
    // Of a function's body: who calls it.
    const OnnxNode* caller = nullptr;
    const OnnxFunction* function = nullptr;
  };

  void bind_inputs(Names& names);
  Value value_of(const std::string& name, Names& names, const std::string& reader);
  Value initialiser(const std::string& name, const FileGraph& graph);
  void translate_all(const std::vector<OnnxNode>& nodes, const std::vector<std::string>& wanted,
                     Names& names);
  void translate(const OnnxNode& node, Names& names);
  // The node with those attributes whose value the caller of its function gives, or the function.
  static OnnxNode with_callers_attributes(const OnnxNode& node, const Names& names);
  std::vector<Value> outputs_of(const OnnxNode& node, const std::vector<Value>& inputs,
                                Names& names);
  int64_t opset(const std::string& domain, const Names& names) const;
  std::vector<Value> branch(const OnnxNode& node, const std::vector<Value>& inputs, Names& names);
  std::vector<Value> call(const OnnxFunction& function, const OnnxNode& node,
                          const std::vector<Value>& inputs);
  bool take_shared(const OnnxNode& node, Names& names);
  void share(const OnnxNode& node, const std::vector<Value>& inputs,
             const std::vector<Value>& outputs, const Names& names);

  const OnnxModel& model_;
  const BuildRequest& request_;
  GraphBuilder graph_{Folding::kYes};
  std::unordered_map<int, ElementType> elements_;  // by value, where it is not the usual one
  std::map<int, const FileTensor*> narrow_;        // by value
  std::set<int> independent_;                      // values that depend on no input
  std::map<std::string, Value, std::less<>> inputs_;
  std::vector<const OnnxFunction*> calls_;  // functions being unfolded, the outermost first
  int depth_ = 0;
  int translated_ = 0;          // nodes
  int64_t known_elements_ = 0;  // of values that do not depend on what is fed
};

}  // namespace whyformer::onnx
