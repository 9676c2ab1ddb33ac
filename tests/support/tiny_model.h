// Small ONNX files that tests put together.
#pragma once

#define ONNX_ML 1
#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <vector>

#include "graph/pass.h"
#include "onnx/onnx_model.h"

namespace whyformer::onnx {

namespace pb = ::onnx;

inline void set_integer(pb::NodeProto& node, const std::string& name, int64_t value) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::INT);
  attribute.set_i(value);
}

inline void set_integers(pb::NodeProto& node, const std::string& name,
                         const std::vector<int64_t>& values) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::INTS);
  for (const int64_t value : values) attribute.add_ints(value);
}

inline void set_text(pb::NodeProto& node, const std::string& name, const std::string& value) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::STRING);
  attribute.set_s(value);
}

inline pb::GraphProto& set_graph(pb::NodeProto& node, const std::string& name) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::GRAPH);
  return *attribute.mutable_g();
}

// The value of an attribute is that of the function's attribute `callers`.
inline void refer_to_caller(pb::NodeProto& node, const std::string& name,
                            const std::string& callers, pb::AttributeProto::AttributeType type) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  attribute.set_ref_attr_name(callers);
}

// Adds to graphs, branches and functions alike.
template <typename Nodes>
pb::NodeProto& add_node(Nodes& nodes, const std::string& kind,
                        const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& domain = "") {
  pb::NodeProto& node = *nodes.add_node();
  node.set_op_type(kind);
  node.set_domain(domain);
  node.set_name(kind + " of " + (outputs.empty() ? "" : outputs[0]));
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

inline pb::TensorProto& add_floats(pb::GraphProto& graph, const std::string& name,
                                   const Shape& shape, const std::vector<float>& values) {
  pb::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(pb::TensorProto::FLOAT);
  for (const int64_t length : shape) tensor.add_dims(length);
  for (const float value : values) tensor.add_float_data(value);
  return tensor;
}

inline pb::TensorProto& add_integers(pb::GraphProto& graph, const std::string& name,
                                     const Shape& shape, const std::vector<int64_t>& values) {
  pb::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(pb::TensorProto::INT64);
  for (const int64_t length : shape) tensor.add_dims(length);
  for (const int64_t value : values) tensor.add_int64_data(value);
  return tensor;
}

struct TinyModel {
  explicit TinyModel(int64_t opset = 17) {
    proto.set_ir_version(8);
    proto.mutable_graph()->set_name("tiny");
    import("", opset);
  }

  pb::GraphProto& graph() { return *proto.mutable_graph(); }

  void import(const std::string& domain, int64_t version) {
    pb::OperatorSetIdProto& entry = *proto.add_opset_import();
    entry.set_domain(domain);
    entry.set_version(version);
  }

  // -1 for axes of any length.
  void input(const std::string& name, const Shape& shape, int type = pb::TensorProto::FLOAT) {
    pb::ValueInfoProto& info = *graph().add_input();
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    for (const int64_t length : shape) {
      auto& axis = *tensor.mutable_shape()->add_dim();
      if (length >= 0)
        axis.set_dim_value(length);
      else
        axis.set_dim_param("any");
    }
  }
  void output(const std::string& name) { graph().add_output()->set_name(name); }

  pb::FunctionProto& function(const std::string& name, const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs) {
    pb::FunctionProto& function = *proto.add_functions();
    function.set_domain("local");
    function.set_name(name);
    for (const std::string& input : inputs) function.add_input(input);
    for (const std::string& output : outputs) function.add_output(output);
    return function;
  }

  std::string text() const { return proto.SerializeAsString(); }
  OnnxFile read() const {
    return read_onnx(bytes_of(text()), [](std::string_view) { return std::nullopt; });
  }

  // Output `name`, the inputs known when the graph is built.
  std::vector<double> compute(const std::string& name,
                              const std::map<std::string, Tensor>& inputs = {}) const {
    const OnnxModel model(read());
    BuildRequest request{.outputs = {name}};
    for (const auto& [input, tensor] : inputs) request.inputs[input] = {tensor.shape(), tensor};
    const BuiltGraph built = model.build(request);
    const Value value = built.values.at(name);
    return run(built.graph, {}, {.outputs = {value}})[value].to_doubles();
  }

  pb::ModelProto proto;
};

// What is thrown, and that it is of that kind; else an empty text.
template <typename Kind, typename Use>
std::string refusal(const Use& use) {
  try {
    use();
  } catch (const Kind& error) {
    return error.what();
  }
  return "";
}

}  // namespace whyformer::onnx
