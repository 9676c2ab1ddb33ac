// What ONNX's own cases do not show: which nodes the translations make, and files that ask for
// absurd sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "graph/constant.h"
#include "graph/pass.h"
#include "onnx/onnx_model.h"
#include "whyformer/error.h"

namespace whyformer::onnx {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

Tensor integers(Shape shape, std::vector<int64_t> values) {
  return Tensor::of<int64_t>(std::move(shape), std::span<const int64_t>(values));
}

Tensor list(std::vector<int64_t> values) {
  return integers({static_cast<int64_t>(values.size())}, values);
}

// A model of one node that reads x, which is fed, and other inputs, which are known.
struct OneNode {
  std::string kind;
  Shape x;
  std::vector<Tensor> known = {};
  std::map<std::string, Attribute, std::less<>> attributes = {};
  size_t outputs = 1;
  int64_t opset = 18;
  ElementType x_type = ElementType::kFloat;

  BuiltGraph build() const {
    OnnxFile file;
    file.opsets[""] = opset;
    OnnxNode node{"node", "", kind, {"x"}, {}, attributes, {}};
    file.graph.inputs.push_back({"x", x_type, x, {}});
    BuildRequest request;
    request.inputs["x"] = {x, std::nullopt};
    for (size_t i = 0; i < known.size(); ++i) {
      node.inputs.push_back("known" + std::to_string(i));
      const auto type =
          known[i].dtype() == DType::kInt64 ? ElementType::kInt64 : ElementType::kFloat;
      file.graph.inputs.push_back({node.inputs.back(), type, known[i].shape(), {}});
      request.inputs[node.inputs.back()] = {known[i].shape(), known[i]};
    }
    for (size_t i = 0; i < outputs; ++i) {
      node.outputs.push_back("y" + std::to_string(i));
      file.graph.outputs.push_back({node.outputs.back(), ElementType::kFloat, {}, {}});
      request.outputs.push_back(node.outputs.back());
    }
    file.graph.nodes.push_back(node);
    return OnnxModel(std::move(file)).build(request);
  }

  // Kinds of the nodes that depend on x.
  std::vector<std::string> kinds() const {
    const BuiltGraph built = build();
    std::vector<std::string> result;
    for (const Node& made : built.graph.nodes()) {
      if (constant_value(*made.op) == nullptr) result.emplace_back(made.op->kind());
    }
    return result;
  }
};

TEST(OnnxLayout, WhatChangesNothingMakesNoNode) {
  EXPECT_THAT((OneNode{"Reshape", {2, 3}, {list({0, -1})}}.kinds()), IsEmpty());
  EXPECT_THAT((OneNode{"Transpose", {2, 3}, {}, {{"perm", std::vector<int64_t>{0, 1}}}}.kinds()),
              IsEmpty());
  EXPECT_THAT((OneNode{"Expand", {2, 3}, {list({1, 3})}}.kinds()), IsEmpty());
  EXPECT_THAT((OneNode{"Tile", {2, 3}, {list({1, 1})}}.kinds()), IsEmpty());
  EXPECT_THAT((OneNode{"Pad", {2, 3}, {list({0, 0, 0, 0})}}.kinds()), IsEmpty());
  EXPECT_THAT((OneNode{"Slice", {2, 3}, {list({0}), list({kHuge}), list({1})}}.kinds()), IsEmpty());
  EXPECT_THAT((OneNode{"Split", {2, 3}}.kinds()), IsEmpty());
  EXPECT_THAT((OneNode{"Concat", {2, 3}, {Tensor::zeros({2, 0})}, {{"axis", int64_t{1}}}}.kinds()),
              IsEmpty());
}

TEST(OnnxLayout, SlicesOfOneRowAreSeenAsSuch) {
  const OneNode one_row{"Slice", {2, 5}, {list({-1}), list({-kHuge}), list({1}), list({-4})}};
  EXPECT_THAT((OneNode{"Slice", {2, 5}, {list({1}), list({kHuge}), list({1}), list({4})}}.kinds()),
              ElementsAre("Slice"));
  EXPECT_THAT(one_row.kinds(), ElementsAre("StridedSlice"));
  EXPECT_THAT((OneNode{"Gather", {2, 5, 3}, {integers({}, {-1})}, {{"axis", int64_t{1}}}}.kinds()),
              ElementsAre("Slice", "Reshape"));
  EXPECT_THAT((OneNode{"Gather", {2, 5, 3}, {list({0})}, {{"axis", int64_t{1}}}}.kinds()),
              ElementsAre("Slice"));
  EXPECT_THAT((OneNode{"Gather", {2, 5, 3}, {list({0, 1})}, {{"axis", int64_t{1}}}}.kinds()),
              ElementsAre("Gather"));
}

TEST(OnnxLayout, SqueezeAndUnsqueezeTellAxesOfLengthOneApart) {
  const BuiltGraph squeezed = OneNode{"Squeeze", {1, 1, 6}, {list({0})}}.build();
  const Node& squeeze = squeezed.graph.nodes().back();
  const ValueType type{{1, 1, 6}, DType::kFloat32};
  EXPECT_EQ(squeeze.op->follow(0, {&type, 1})->sources[0], 1);
  const BuiltGraph longer = OneNode{"Unsqueeze", {1, 1, 6}, {list({1})}}.build();
  const Node& unsqueeze = longer.graph.nodes().back();
  EXPECT_FALSE(unsqueeze.op->follow(1, {&type, 1}).has_value());
  EXPECT_EQ(unsqueeze.op->follow(2, {&type, 1})->sources[0], 1);
}

TEST(OnnxLayout, TheLastOfUnevenPartsIsShorter) {
  const BuiltGraph built = OneNode{"Split", {7}, {}, {{"num_outputs", int64_t{3}}}, 3}.build();
  EXPECT_EQ(built.graph.shape(built.values.at("y0")), Shape{3});
  EXPECT_EQ(built.graph.shape(built.values.at("y1")), Shape{3});
  EXPECT_EQ(built.graph.shape(built.values.at("y2")), Shape{1});
}

TEST(OnnxLayout, RefusesSizesThatDoNotFitOrAreAbsurd) {
  const std::vector<OneNode> bad{
      {"Reshape", {2, 3}, {list({4, -1})}},
      {"Reshape", {2, 3}, {list({-1, -1})}},
      {"Reshape", {2, 3}, {list({-2, -3})}},
      {"Reshape", {2, 3}, {list({2, 3, 0})}},
      {"Reshape", {2, 3}, {list({kHuge, kHuge, -1})}},
      {"Reshape", {0, 3}, {list({0, -1})}},
      {"Transpose", {2, 3}, {}, {{"perm", std::vector<int64_t>{0, 0}}}},
      {"Transpose", {2, 3}, {}, {{"perm", std::vector<int64_t>{1, 2}}}},
      {"Squeeze", {2, 3}, {list({0})}},
      {"Unsqueeze", {2, 3}, {list({1, 1})}},
      {"Unsqueeze", {2, 3}, {list({kHuge})}},
      {"Flatten", {2, 3}, {}, {{"axis", kHuge}}},
      {"Expand", {2, 1}, {list({2, kHuge})}},
      {"Expand", {2, 1}, {list({2, -1})}},
      {"Tile", {2, 1}, {list({1, kHuge})}},
      {"Tile", {2, 1}, {list({kHuge, kHuge})}},
      {"Split", {7}, {list({3, 5})}, {}, 2},
      {"Split", {7}, {list({-1, 8})}, {}, 2},
      {"Split", {7}, {list({kHuge, kHuge})}, {}, 2},
      {"Slice", {7}, {list({0}), list({7}), list({0}), list({0})}},
      {"Slice", {7}, {list({0, 0}), list({7})}},
      {"Pad", {2, 3}, {list({kHuge, 0, kHuge, 0})}},
      {"Pad", {2, 3}, {list({1, 1})}},
      {"Gather", {2, 3}, {list({2})}},
      {"Gather", {2, 3}, {list({0, 2})}, {{"axis", kHuge}}},
      {"GatherND", {2, 3}, {integers({1, 3}, {0, 0, 0})}},
      {"GatherND", {2, 3}, {integers({1, 1}, {0})}, {{"batch_dims", kHuge}}},
      {"DepthToSpace", {1, 3, 2, 2}, {}, {{"blocksize", int64_t{2}}}},
      {"DepthToSpace", {1, 3, 2, 2}, {}, {{"blocksize", kHuge}}},
      {"SpaceToDepth", {1, 3, 2, 3}, {}, {{"blocksize", int64_t{2}}}},
      {"OneHot",
       {2},
       {list({kHuge}), Tensor::of<float>({2}, {0.f, 1.f})},
       {},
       1,
       18,
       ElementType::kInt64},
  };
  for (const OneNode& node : bad) EXPECT_THROW(node.build(), InvalidInput) << node.kind;
}

// A model of one node whose inputs are all known.
Shape shape_of_known(const std::string& kind, const std::vector<Tensor>& inputs) {
  OnnxFile file;
  file.opsets[""] = 18;
  OnnxNode made{"node", "", kind, {}, {"y"}, {}, {}};
  BuildRequest request{.inputs = {}, .outputs = {"y"}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    made.inputs.push_back("known" + std::to_string(i));
    file.graph.inputs.push_back({made.inputs.back(), ElementType::kInt64, inputs[i].shape(), {}});
    request.inputs[made.inputs.back()] = {inputs[i].shape(), inputs[i]};
  }
  file.graph.outputs.push_back({"y", ElementType::kInt64, {}, {}});
  file.graph.nodes.push_back(made);
  const BuiltGraph built = OnnxModel(std::move(file)).build(request);
  return built.graph.shape(built.values.at("y"));
}

TEST(OnnxLayout, ConstantsOfAbsurdSizesAreRefused) {
  const auto number = [](int64_t value) { return integers({}, {value}); };
  EXPECT_EQ(shape_of_known("Range", {number(5), number(0), number(-2)}), Shape{3});
  EXPECT_EQ(shape_of_known("Range", {number(5), number(0), number(2)}), Shape{0});
  EXPECT_EQ(shape_of_known("Range", {number(-kHuge), number(kHuge), number(kHuge)}), Shape{2});
  EXPECT_EQ(shape_of_known("Range", {number(kHuge - 3), number(kHuge), number(1)}), Shape{3});
  EXPECT_THROW(shape_of_known("Range", {number(0), number(kHuge), number(1)}), InvalidInput);
  EXPECT_THROW(shape_of_known("Range", {number(-kHuge), number(kHuge), number(1)}), InvalidInput);
  EXPECT_THROW(shape_of_known("Range", {number(0), number(5), number(0)}), InvalidInput);
  EXPECT_THROW(shape_of_known("Range", {number(0), number(0), number(0)}), InvalidInput);
  EXPECT_EQ(shape_of_known("ConstantOfShape", {list({0, 3})}), (Shape{0, 3}));
  EXPECT_THROW(shape_of_known("ConstantOfShape", {list({kHuge, kHuge})}), InvalidInput);
  EXPECT_THROW(shape_of_known("ConstantOfShape", {list({0, kHuge, kHuge})}), InvalidInput);
  EXPECT_THROW(shape_of_known("ConstantOfShape", {list({-1})}), InvalidInput);
}

TEST(OnnxGathering, ATableReadByIdsIsAnEmbedding) {
  OnnxFile file;
  file.opsets[""] = 13;
  file.graph.inputs.push_back({"ids", ElementType::kInt64, {1, 4}, {}});
  file.graph.inputs.push_back({"table", ElementType::kFloat, {7, 2}, {}});
  file.graph.outputs.push_back({"y", ElementType::kFloat, {}, {}});
  file.graph.nodes.push_back({"node", "", "Gather", {"table", "ids"}, {"y"}, {}, {}});
  const BuiltGraph built = OnnxModel(std::move(file))
                               .build({.inputs = {{"ids", {{1, 4}, std::nullopt}},
                                                  {"table", {{7, 2}, Tensor::zeros({7, 2})}}},
                                       .outputs = {"y"}});
  EXPECT_EQ(built.graph.nodes().back().op->kind(), "Embedding");
  EXPECT_EQ(built.graph.shape(built.values.at("y")), (Shape{1, 4, 2}));
}

}  // namespace
}  // namespace whyformer::onnx
