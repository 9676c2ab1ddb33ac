// Nodes that no exporter writes: each is refused in words that name it, before anything is computed
// with what it asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <variant>

#include "onnx/node_scope.h"
#include "onnx/operators.h"
#include "tests/support/tiny_model.h"

namespace whyformer::onnx {
namespace {

using Numbers = std::vector<int64_t>;

constexpr int64_t kHuge = int64_t{1} << 62;
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

struct Hostile {
  const char* kind;
  std::vector<std::string> inputs;
  std::map<std::string, std::variant<int64_t, Numbers>> attributes;
  std::string domain = "";
};

void set_attributes(pb::NodeProto& node, const Hostile& hostile) {
  for (const auto& [name, value] : hostile.attributes) {
    if (const auto* numbers = std::get_if<Numbers>(&value))
      set_integers(node, name, *numbers);
    else
      set_integer(node, name, std::get<int64_t>(value));
  }
}

// Values of several shapes and types for the nodes to read.
TinyModel with_values() {
  TinyModel model(23);
  model.import("com.microsoft", 1);
  pb::GraphProto& graph = model.graph();
  add_floats(graph, "scalar", {}, {1});
  add_floats(graph, "matrix", {2, 3}, {1, 2, 3, 4, 5, 6});
  add_floats(graph, "image", {1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  add_floats(graph, "kernel", {2, 2, 1, 1}, {1, 2, 3, 4});
  add_floats(graph, "no_kernel", {0, 2, 1, 1}, {});
  add_floats(graph, "no_channels", {1, 0, 2, 2}, {});
  add_floats(graph, "zero_scales", {4}, {1, 1, 0, 1});
  add_floats(graph, "odd_scales", {4}, {1, 1, NAN, INFINITY});
  add_floats(graph, "nothing", {0}, {});
  add_integers(graph, "one", {}, {1});
  add_integers(graph, "zero", {}, {0});
  add_integers(graph, "zeros", {1}, {0});
  add_integers(graph, "least", {1}, {kLeast});
  add_integers(graph, "huge", {1}, {kHuge});
  add_integers(graph, "huge_pair", {2}, {kHuge, kHuge});
  add_integers(graph, "negative_pair", {2}, {-2, -3});
  add_integers(graph, "same_pair", {2}, {1, 1});
  add_integers(graph, "whole_matrix", {2, 3}, {1, 2, 3, 4, 5, 6});
  add_integers(graph, "whole_grid", {1, 1, 1, 2}, {0, 0});
  return model;
}

const Hostile kNodes[] = {
    // Windows.
    {"Conv", {"image", "kernel"}, {{"group", 0}}},
    {"Conv", {"image", "kernel"}, {{"group", -1}}},
    {"Conv", {"image", "kernel"}, {{"group", kHuge}}},
    {"Conv", {"no_channels", "no_kernel"}, {{"group", kHuge}}},
    {"Conv", {"image", "kernel"}, {{"strides", Numbers{0, 1}}}},
    {"Conv", {"image", "kernel"}, {{"dilations", Numbers{-1, 1}}}},
    {"Conv", {"image", "kernel"}, {{"pads", Numbers{kHuge, 0, kHuge, 0}}}},
    {"Conv", {"image", "kernel"}, {{"pads", Numbers{1}}}},
    {"Conv", {"image", "scalar"}, {}},
    {"Conv", {"image", "kernel", "matrix"}, {}},
    {"Conv", {"whole_grid", "kernel"}, {}},
    {"ConvTranspose", {"no_channels", "no_kernel"}, {{"group", kHuge}}},
    {"ConvTranspose", {"image", "kernel"}, {{"output_shape", Numbers{kHuge, kHuge}}}},
    {"ConvTranspose", {"image", "kernel"}, {{"strides", Numbers{kHuge, 1}}}},
    {"ConvTranspose", {"whole_grid", "kernel"}, {}},
    {"AveragePool",
     {"image"},
     {{"kernel_shape", Numbers{INT32_MAX, INT32_MAX}}, {"pads", Numbers(4, INT32_MAX)}}},
    {"MaxPool", {"image"}, {{"kernel_shape", Numbers{0, 1}}}},
    {"MaxPool", {"scalar"}, {{"kernel_shape", Numbers{1}}}},
    {"Resize", {"image", "", "zero_scales"}, {}},
    {"Resize", {"image", "", "odd_scales"}, {}},
    {"GridSample", {"image", "whole_grid"}, {}},
    {"DepthToSpace", {"image"}, {{"blocksize", 0}}},
    // Shapes.
    {"Transpose", {"matrix"}, {{"perm", Numbers{0, 0}}}},
    {"Transpose", {"matrix"}, {{"perm", Numbers{kHuge, 0}}}},
    {"Reshape", {"matrix", "negative_pair"}, {}},
    {"Reshape", {"matrix", "huge_pair"}, {}},
    {"Reshape", {"nothing", "huge_pair"}, {}},
    {"Expand", {"scalar", "huge_pair"}, {}},
    {"Tile", {"matrix", "huge_pair"}, {}},
    {"Tile", {"matrix", "negative_pair"}, {}},
    {"ConstantOfShape", {"huge_pair"}, {}},
    {"Range", {"zero", "one", "zero"}, {}},
    {"Range", {"zero", "huge", "one"}, {}},
    {"Slice", {"matrix", "zeros", "huge", "zeros", "zeros"}, {}},
    {"Slice", {"matrix", "zeros", "huge", "huge"}, {}},
    {"Split", {"matrix", "same_pair"}, {{"axis", 1}}},
    {"Squeeze", {"matrix", "same_pair"}, {}},
    {"Unsqueeze", {"matrix", "same_pair"}, {}},
    {"Pad", {"matrix", "huge_pair", "", "zeros"}, {}},
    {"Concat", {"matrix", "scalar"}, {{"axis", 0}}},
    {"ReduceSum", {"matrix", "same_pair"}, {}},
    {"ReduceSum", {"matrix", "least"}, {}},
    {"CumSum", {"matrix", "huge"}, {}},
    {"Einsum", {"matrix"}, {}},
    // Indices.
    {"Gather", {"matrix", "huge"}, {}},
    {"Gather", {"matrix", "least"}, {}},
    {"GatherND", {"matrix", "huge_pair"}, {}},
    {"GatherND", {"matrix", "zeros"}, {{"batch_dims", kLeast}}},
    {"GatherElements", {"matrix", "zeros"}, {}},
    {"TopK", {"matrix", "huge"}, {}},
    {"TopK", {"matrix", "least"}, {}},
    {"OneHot", {"one", "least", "matrix"}, {}},
    {"ArgMax", {"scalar"}, {{"axis", 0}}},
    // Types and ranks.
    {"Div", {"one", "zero"}, {}},
    {"Mod", {"one", "zero"}, {}},
    {"Softmax", {"whole_matrix"}, {}},
    {"MatMul", {"matrix", "scalar"}, {}},
    {"Gemm", {"matrix", "whole_matrix"}, {{"transB", 1}}},
    {"Add", {"matrix", "whole_matrix"}, {}},
    {"Relu", {"scalar"}, {}, "nowhere"},
    {"LayerNormalization", {"scalar", "scalar"}, {}},
    {"LayerNormalization", {"whole_matrix", "matrix"}, {}},
    {"GroupNormalization", {"image", "matrix", "matrix"}, {{"num_groups", 0}}},
    // Fused operators.
    {"Attention", {"scalar", "scalar", "scalar"}, {}},
    {"Attention", {"image", "matrix", "image"}, {}},
    {"Attention", {"image", "image", "image", "scalar"}, {}},
    {"RotaryEmbedding", {"scalar", "scalar", "scalar"}, {}},
    {"Attention", {"matrix", "scalar"}, {{"num_heads", 1}}, "com.microsoft"},
    {"Attention", {"matrix", "matrix"}, {{"num_heads", 0}}, "com.microsoft"},
    {"Attention",
     {"matrix", "matrix"},
     {{"num_heads", 1}, {"qkv_hidden_sizes", Numbers{kHuge, kHuge, 1}}},
     "com.microsoft"},
    {"MultiHeadAttention", {"scalar", "scalar", "scalar"}, {{"num_heads", 1}}, "com.microsoft"},
    {"RotaryEmbedding", {"scalar", "scalar", "scalar", "scalar"}, {}, "com.microsoft"},
    {"EmbedLayerNormalization", {"one"}, {}, "com.microsoft"},
    {"SkipLayerNormalization", {"scalar", "scalar", "scalar"}, {}, "com.microsoft"},
    {"MatMulNBits",
     {"matrix", "matrix", "matrix"},
     {{"K", kHuge}, {"N", kHuge}, {"block_size", 16}},
     "com.microsoft"},
    {"QAttention", {"matrix", "matrix"}, {{"num_heads", kHuge}}, "com.microsoft"},
};

TEST(HostileNodes, AreRefusedAndNamed) {
  for (const Hostile& hostile : kNodes) {
    TinyModel model = with_values();
    set_attributes(add_node(model.graph(), hostile.kind, hostile.inputs, {"y"}, hostile.domain),
                   hostile);
    const std::string message = refusal<Error>([&] { model.compute("y"); });
    EXPECT_THAT(message, testing::HasSubstr("of y"))
        << hostile.kind << " of " << testing::PrintToString(hostile.inputs);
  }
}

// A node of each operator with every number of inputs, all of one value: too few, too many, wrong
// ranks and types.
TEST(HostileNodes, WhateverAnOperatorReadsItRunsOrIsRefused) {
  const TinyModel values = with_values();
  for (const auto& family :
       {elementwise_operators(), reduction_operators(), layout_operators(), making_operators(),
        gathering_operators(), product_operators(), normalising_operators(), picture_operators(),
        attention_operators(), quantised_operators(), fused_quantised_operators()}) {
    for (const OnnxOperator& entry : family) {
      for (const char* value :
           {"scalar", "matrix", "image", "nothing", "one", "zeros", "whole_matrix"}) {
        for (size_t count = 0; count < 6; ++count) {
          TinyModel model = values;
          add_node(model.graph(), std::string(entry.kind), std::vector<std::string>(count, value),
                   {"y"}, std::string(entry.domain));
          try {
            model.compute("y");
          } catch (const InvalidInput&) {
          } catch (const UnsupportedModel&) {
          } catch (const std::exception& error) {
            ADD_FAILURE() << entry.kind << " of " << count << " times " << value << ": "
                          << error.what();
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace whyformer::onnx
