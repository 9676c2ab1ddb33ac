// Mutations of ONNX files that stay ONNX files: other operators, attributes, shapes, types and
// wiring.
#define ONNX_ML 1
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "onnx/operators.h"

namespace {

namespace pb = ::onnx;
using whyformer::onnx::OnnxOperator;

constexpr int64_t kIntegers[] = {0,
                                 1,
                                 -1,
                                 2,
                                 -2,
                                 3,
                                 4,
                                 5,
                                 7,
                                 8,
                                 16,
                                 127,
                                 255,
                                 1000,
                                 65536,
                                 INT32_MAX,
                                 INT32_MIN,
                                 int64_t{1} << 33,
                                 int64_t{1} << 62,
                                 INT64_MAX,
                                 INT64_MIN,
                                 INT64_MIN + 1};
constexpr float kFloats[] = {0.0f,
                             -0.0f,
                             1.0f,
                             -1.0f,
                             0.5f,
                             1e-30f,
                             1e30f,
                             -1e30f,
                             3e9f,
                             std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};
constexpr const char* kTexts[] = {"",
                                  "linear",
                                  "nearest",
                                  "cubic",
                                  "SAME_UPPER",
                                  "SAME_LOWER",
                                  "VALID",
                                  "NOTSET",
                                  "reflect",
                                  "edge",
                                  "wrap",
                                  "constant",
                                  "add",
                                  "tanh",
                                  "align_corners",
                                  "asymmetric",
                                  "tf_crop_and_resize",
                                  "border",
                                  "reflection",
                                  "CRD",
                                  "not_larger",
                                  "not_smaller",
                                  "floor",
                                  "ceil",
                                  "ij,jk->ik",
                                  "i...,...j",
                                  "ii->i",
                                  "ij->",
                                  "->",
                                  ",",
                                  "abc,cb"};
// Attributes that operators read, to be added where a node lacks them.
constexpr const char* kAttributes[] = {"axis",
                                       "axes",
                                       "keepdims",
                                       "perm",
                                       "to",
                                       "k",
                                       "group",
                                       "pads",
                                       "strides",
                                       "dilations",
                                       "kernel_shape",
                                       "output_shape",
                                       "output_padding",
                                       "auto_pad",
                                       "ceil_mode",
                                       "num_heads",
                                       "scale",
                                       "allowzero",
                                       "split",
                                       "num_outputs",
                                       "blocksize",
                                       "mode",
                                       "equation",
                                       "batch_dims",
                                       "fmod",
                                       "block_size",
                                       "num_groups",
                                       "transA",
                                       "transB",
                                       "alpha",
                                       "beta",
                                       "epsilon",
                                       "is_causal",
                                       "q_num_heads",
                                       "kv_num_heads",
                                       "softcap",
                                       "unidirectional",
                                       "upper",
                                       "largest",
                                       "select_last_index",
                                       "antialias",
                                       "exclude_outside",
                                       "coordinate_transformation_mode",
                                       "keep_aspect_ratio_policy",
                                       "noop_with_empty_axes",
                                       "rotary_embedding_dim",
                                       "interleaved",
                                       "qkv_hidden_sizes",
                                       "reduction",
                                       "left_window_size",
                                       "right_window_size",
                                       "channels_last",
                                       "opset",
                                       "K",
                                       "N",
                                       "bits",
                                       "start",
                                       "end",
                                       "detect_negative",
                                       "exclusive",
                                       "reverse",
                                       "count_include_pad",
                                       "dtype",
                                       "value_int",
                                       "value_ints"};

class Mutator {
 public:
  Mutator(pb::ModelProto& model, unsigned seed) : model_(model), random_(seed) { collect(); }

  void mutate() {
    for (size_t times = 1 + below(4); times > 0; --times) mutate_once();
  }

 private:
  void mutate_once() {
    if (nodes_.empty()) return;
    pb::NodeProto& node = *nodes_[below(nodes_.size())];
    switch (below(12)) {
      case 0:
        return change_operator(node);
      case 1:
      case 2:
      case 3:
        return change_attribute(node);
      case 4:
        return add_attribute(node);
      case 5:
        return rewire(node);
      case 6:
        return resize_inputs(node);
      case 7:
      case 8:
        return change_tensor();
      case 9:
        return change_model_input();
      case 10:
        return change_data();
      default:
        return add_node();
    }
  }

  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  template <typename T, size_t n>
  T one_of(const T (&all)[n]) {
    return all[below(n)];
  }
  int64_t integer() {
    return below(3) == 0 ? one_of(kIntegers) : static_cast<int64_t>(below(7)) - 2;
  }

  void collect() {
    collect(*model_.mutable_graph(), 0);
    for (pb::FunctionProto& function : *model_.mutable_functions()) {
      for (pb::NodeProto& node : *function.mutable_node()) collect(node, 0);
    }
  }
  void collect(pb::GraphProto& graph, int depth) {
    if (depth > 8) return;
    for (pb::NodeProto& node : *graph.mutable_node()) collect(node, depth);
    for (pb::TensorProto& tensor : *graph.mutable_initializer()) {
      tensors_.push_back(&tensor);
      names_.push_back(tensor.name());
    }
    for (pb::ValueInfoProto& input : *graph.mutable_input()) {
      names_.push_back(input.name());
      if (input.has_type() && input.type().has_tensor_type()) inputs_.push_back(&input);
    }
  }
  void collect(pb::NodeProto& node, int depth) {
    nodes_.push_back(&node);
    for (const std::string& output : node.output()) names_.push_back(output);
    for (pb::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) tensors_.push_back(attribute.mutable_t());
      if (attribute.has_g()) collect(*attribute.mutable_g(), depth + 1);
    }
  }

  void change_operator(pb::NodeProto& node) {
    using namespace whyformer::onnx;
    const std::span<const OnnxOperator> families[] = {
        elementwise_operators(), reduction_operators(),      layout_operators(),
        making_operators(),      gathering_operators(),      product_operators(),
        normalising_operators(), picture_operators(),        attention_operators(),
        quantised_operators(),   fused_quantised_operators()};
    const auto family = families[below(std::size(families))];
    const OnnxOperator& chosen = family[below(family.size())];
    node.set_op_type(std::string(chosen.kind));
    node.set_domain(std::string(chosen.domain));
  }

  void change_attribute(pb::NodeProto& node) {
    if (node.attribute_size() == 0) return add_attribute(node);
    const int index = static_cast<int>(below(node.attribute_size()));
    if (below(8) == 0) {
      node.mutable_attribute()->DeleteSubrange(index, 1);
      return collect_again();
    }
    fill(*node.mutable_attribute(index));
  }

  void add_attribute(pb::NodeProto& node) {
    pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(one_of(kAttributes));
    const pb::AttributeProto::AttributeType types[] = {
        pb::AttributeProto::INT, pb::AttributeProto::INT, pb::AttributeProto::INTS,
        pb::AttributeProto::FLOAT, pb::AttributeProto::STRING};
    attribute.set_type(one_of(types));
    fill(attribute);
    collect_again();
  }

  void fill(pb::AttributeProto& attribute) {
    switch (attribute.type()) {
      case pb::AttributeProto::INT:
        return attribute.set_i(integer());
      case pb::AttributeProto::FLOAT:
        return attribute.set_f(one_of(kFloats));
      case pb::AttributeProto::STRING:
        return attribute.set_s(one_of(kTexts));
      case pb::AttributeProto::INTS: {
        auto& numbers = *attribute.mutable_ints();
        if (numbers.empty() || below(4) == 0)
          numbers.Add(integer());
        else if (below(4) == 0)
          numbers.RemoveLast();
        else
          numbers.Set(static_cast<int>(below(numbers.size())), integer());
        return;
      }
      case pb::AttributeProto::FLOATS:
        return attribute.add_floats(one_of(kFloats));
      default:
        return;
    }
  }

  void rewire(pb::NodeProto& node) {
    if (node.input_size() == 0 || names_.empty()) return;
    const int index = static_cast<int>(below(node.input_size()));
    node.set_input(index, below(5) == 0 ? "" : names_[below(names_.size())]);
  }

  void resize_inputs(pb::NodeProto& node) {
    if (below(2) == 0 && node.input_size() > 0)
      node.mutable_input()->RemoveLast();
    else if (!names_.empty())
      node.add_input(names_[below(names_.size())]);
  }

  // Another shape with as many elements as there are, so that the reader takes it.
  void change_tensor() {
    if (tensors_.empty()) return;
    pb::TensorProto& tensor = *tensors_[below(tensors_.size())];
    auto& dims = *tensor.mutable_dims();
    switch (below(5)) {
      case 0:
        dims.Add(1);
        return;
      case 1:
        dims.Clear(), dims.Add(0), clear_data(tensor);
        return;
      case 2:
        std::reverse(dims.begin(), dims.end());
        return;
      case 3:
        if (!dims.empty()) dims.Set(static_cast<int>(below(dims.size())), integer());
        return;
      default:
        tensor.set_data_type(static_cast<int>(1 + below(22)));
        return;
    }
  }
  static void clear_data(pb::TensorProto& tensor) {
    tensor.clear_raw_data(), tensor.clear_float_data(), tensor.clear_int64_data();
    tensor.clear_int32_data(), tensor.clear_double_data(), tensor.clear_uint64_data();
  }

  void change_data() {
    if (tensors_.empty()) return;
    pb::TensorProto& tensor = *tensors_[below(tensors_.size())];
    if (tensor.int64_data_size() > 0) {
      tensor.set_int64_data(static_cast<int>(below(tensor.int64_data_size())), integer());
    }
    std::string& raw = *tensor.mutable_raw_data();
    const int64_t number = integer();
    const float real = one_of(kFloats);
    const bool floats = tensor.data_type() == pb::TensorProto::FLOAT;
    const size_t width = floats ? 4 : 8;
    if (raw.size() < width) {
      if (raw.empty()) tensor.clear_raw_data();
      return;
    }
    const size_t place = below(raw.size() / width) * width;
    if (floats)
      std::memcpy(raw.data() + place, &real, width);
    else
      std::memcpy(raw.data() + place, &number, width);
  }

  void change_model_input() {
    if (below(4) == 0 && model_.opset_import_size() > 0) {
      const int index = static_cast<int>(below(model_.opset_import_size()));
      return model_.mutable_opset_import(index)->set_version(7 + static_cast<int64_t>(below(20)));
    }
    if (inputs_.empty()) return;
    auto& type = *inputs_[below(inputs_.size())]->mutable_type()->mutable_tensor_type();
    if (below(4) == 0) return type.set_elem_type(static_cast<int>(1 + below(16)));
    auto& dims = *type.mutable_shape()->mutable_dim();
    if (dims.empty() || below(5) == 0)
      dims.Add()->set_dim_value(1);
    else if (below(5) == 0)
      dims.RemoveLast();
    else
      dims.Mutable(static_cast<int>(below(dims.size())))->set_dim_value(integer());
  }

  // A node behind the others that reads what is there, and whose result is asked for.
  void add_node() {
    if (names_.empty()) return;
    pb::GraphProto& graph = *model_.mutable_graph();
    pb::NodeProto& node = *graph.add_node();
    change_operator(node);
    for (size_t inputs = 1 + below(4); inputs > 0; --inputs) {
      node.add_input(names_[below(names_.size())]);
    }
    node.add_output("added" + std::to_string(graph.node_size()));
    graph.add_output()->set_name(node.output(0));
    collect_again();
  }

  // Adding to a repeated field may move what is in it.
  void collect_again() {
    nodes_.clear(), tensors_.clear(), inputs_.clear(), names_.clear();
    collect();
  }

  pb::ModelProto& model_;
  std::mt19937 random_;
  std::vector<pb::NodeProto*> nodes_;
  std::vector<pb::TensorProto*> tensors_;
  std::vector<pb::ValueInfoProto*> inputs_;
  std::vector<std::string> names_;
};

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  pb::ModelProto model;
  if (!model.ParseFromArray(data, static_cast<int>(size))) return size;
  Mutator(model, seed).mutate();
  const std::string text = model.SerializeAsString();
  if (text.size() > most) return size;
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
