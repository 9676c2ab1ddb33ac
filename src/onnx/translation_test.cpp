// From nodes to a graph: branches, functions, optional inputs, and what is said where something
// does not fit.
#include "onnx/translation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "tests/support/source_folder.h"
#include "tests/support/tiny_model.h"

namespace whyformer::onnx {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Tensor pair(float a, float b) { return Tensor::of<float>({2}, {a, b}); }

// y = condition ? x + w : x - outside, where `outside` = -x is computed around the If.
TinyModel with_branch(const std::string& condition) {
  TinyModel model;
  model.input("x", {2});
  model.input("flag", {}, pb::TensorProto::BOOL);
  pb::TensorProto& yes = add_integers(model.graph(), "yes", {}, {});
  yes.set_data_type(pb::TensorProto::BOOL);
  yes.add_int32_data(1);
  add_integers(model.graph(), "three", {}, {3});
  pb::NodeProto& choice = add_node(model.graph(), "If", {condition}, {"y"});
  pb::GraphProto& then = set_graph(choice, "then_branch");
  add_floats(then, "w", {1}, {100});
  add_node(then, "Add", {"x", "w"}, {"z"});
  then.add_output()->set_name("z");
  pb::GraphProto& otherwise = set_graph(choice, "else_branch");
  add_node(otherwise, "Sub", {"x", "outside"}, {"z"});
  otherwise.add_output()->set_name("z");
  add_node(model.graph(), "Neg", {"x"}, {"outside"});  // behind the If: order does not matter
  add_node(model.graph(), "Equal", {"three", "three"}, {"folded"});
  model.output("y");
  return model;
}

TEST(OnnxIf, AConstantConditionChooses) {
  EXPECT_THAT(with_branch("yes").compute("y", {{"x", pair(1, 2)}}), ElementsAre(101, 102));
}

TEST(OnnxIf, AFoldedConditionChooses) {
  EXPECT_THAT(with_branch("folded").compute("y", {{"x", pair(1, 2)}}), ElementsAre(101, 102));
}

TEST(OnnxIf, AnInputGivenByValueChoosesAndBranchesReadNamesFromOutside) {
  const TinyModel model = with_branch("flag");
  const auto flag = [](int64_t value) { return Tensor::of<int64_t>({}, {value}); };
  EXPECT_THAT(model.compute("y", {{"x", pair(1, 2)}, {"flag", flag(1)}}), ElementsAre(101, 102));
  EXPECT_THAT(model.compute("y", {{"x", pair(1, 2)}, {"flag", flag(0)}}), ElementsAre(2, 4));
}

TEST(OnnxIf, AnInputThatIsNotGivenByValueIsAskedFor) {
  const OnnxModel model(with_branch("flag").read());
  BuildRequest request{.outputs = {"y"}};
  request.inputs["x"] = {{2}};
  request.inputs["flag"] = {{}};
  const std::string message = refusal<NeedsValue>([&] { model.build(request); });
  EXPECT_THAT(message, AllOf(HasSubstr("If 'If of y'"), HasSubstr("by value")));
}

TEST(OnnxIf, WhatBranchesMakeIsNotSeenOutside) {
  TinyModel model = with_branch("yes");
  add_node(model.graph(), "Neg", {"z"}, {"minus"});
  EXPECT_THAT(refusal<InvalidInput>([&] { model.compute("minus", {{"x", pair(1, 2)}}); }),
              HasSubstr("reads 'z', which is neither computed nor given"));
}

TEST(OnnxOperators, IntegersAreMultipliedExactly) {
  TinyModel model;
  model.input("x", {1, 2}, pb::TensorProto::INT64);
  add_integers(model.graph(), "w", {2, 2}, {3, 1 << 20, 5, -7});
  add_node(model.graph(), "MatMul", {"w", "w"}, {"folded"});
  add_node(model.graph(), "MatMul", {"x", "w"}, {"y"});
  model.output("y");
  EXPECT_THAT(model.compute("folded"),
              ElementsAre(9 + 5 * (1 << 20), (3 - 7) * (1 << 20), 15 - 35, 5 * (1 << 20) + 49));
  const OnnxModel read(model.read());
  BuildRequest request{.inputs = {{"x", {{1, 2}, std::nullopt}}}, .outputs = {"y"}};
  const BuiltGraph built = read.build(request);
  const Value y = built.values.at("y");
  const Feeds feeds{{built.inputs.at("x"), Tensor::of<int64_t>({1, 2}, {(1 << 20) + 1, 1})}};
  EXPECT_THAT(run(built.graph, feeds, {.outputs = {y}})[y].to_doubles(),
              ElementsAre(3.0 * ((1 << 20) + 1) + 5, 0x1p40 + 0x1p20 - 7));
}

// As ONNX Runtime 1.x does; the specification leaves it open.
TEST(OnnxOperators, OldNearestResizesRoundDownAlongAxesThatGrowAndUpAlongThoseThatShrink) {
  TinyModel model(10);
  model.input("x", {1, 1, 2, 5});
  add_floats(model.graph(), "scales", {4}, {1, 1, 1.5, 0.6});
  set_text(add_node(model.graph(), "Resize", {"x", "scales"}, {"y"}), "mode", "nearest");
  const Tensor x = Tensor::of<float>({1, 1, 2, 5}, {0, 1, 2, 3, 4, 10, 11, 12, 13, 14});
  EXPECT_THAT(model.compute("y", {{"x", x}}), ElementsAre(0, 2, 4, 0, 2, 4, 10, 12, 14));
}

TEST(OnnxOperators, KnownIntegersThatA32BitTypeCannotHoldWrapAround) {
  TinyModel model;
  add_integers(model.graph(), "w", {3},
               {std::numeric_limits<int64_t>::max(), (int64_t{1} << 31) + 5, 7});
  set_integer(add_node(model.graph(), "Cast", {"w"}, {"signed"}), "to", pb::TensorProto::INT32);
  set_integer(add_node(model.graph(), "Cast", {"w"}, {"unsigned"}), "to", pb::TensorProto::UINT32);
  EXPECT_THAT(model.compute("signed"), ElementsAre(-1, 5 - 0x1p31, 7));
  EXPECT_THAT(model.compute("unsigned"), ElementsAre(0x1p32 - 1, 0x1p31 + 5, 7));
}

// shift(x, by) = x + by, scale(x; factor) = x · factor, both(x, by; factor) = scale(shift(x, by)).
TinyModel with_functions() {
  TinyModel model;
  model.import("local", 1);
  pb::FunctionProto& shift = model.function("shift", {"x", "by"}, {"y"});
  add_node(shift, "Max", {"x", "by"}, {"y"});
  pb::FunctionProto& scale = model.function("scale", {"x"}, {"y"});
  scale.add_attribute("factor");
  pb::NodeProto& factor = add_node(scale, "Constant", {}, {"f"});
  refer_to_caller(factor, "value_float", "factor", pb::AttributeProto::FLOAT);
  add_node(scale, "Mul", {"x", "f"}, {"y"});
  pb::FunctionProto& both = model.function("both", {"x", "by"}, {"y"});
  both.add_attribute("factor");
  add_node(both, "shift", {"x", "by"}, {"shifted"}, "local");
  pb::NodeProto& scaling = add_node(both, "scale", {"shifted"}, {"y"}, "local");
  refer_to_caller(scaling, "factor", "factor", pb::AttributeProto::FLOAT);
  model.input("x", {2});
  model.input("by", {2});
  return model;
}

void set_factor(pb::NodeProto& node, float factor) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("factor");
  attribute.set_type(pb::AttributeProto::FLOAT);
  attribute.set_f(factor);
}

TEST(OnnxFunction, FunctionsCallFunctionsAndHandAttributesOn) {
  TinyModel model = with_functions();
  set_factor(add_node(model.graph(), "both", {"x", "by"}, {"y"}, "local"), 10);
  set_factor(add_node(model.graph(), "both", {"x", "y"}, {"z"}, "local"), -1);
  EXPECT_THAT(model.compute("z", {{"x", pair(1, 2)}, {"by", pair(0, 5)}}), ElementsAre(-10, -50));
}

TEST(OnnxFunction, AnInputThatTheCallLeavesOutIsLeftOutInside) {
  TinyModel model = with_functions();
  // Clip has optional bounds.
  pb::FunctionProto& clip = model.function("clip", {"x", "least", "most"}, {"y"});
  add_node(clip, "Clip", {"x", "least", "most"}, {"y"});
  add_floats(model.graph(), "bound", {}, {1.5});
  add_node(model.graph(), "clip", {"x", "", "bound"}, {"low"}, "local");
  add_node(model.graph(), "clip", {"x", "bound"}, {"high"}, "local");
  EXPECT_THAT(model.compute("low", {{"x", pair(1, 2)}}), ElementsAre(1, 1.5));
  EXPECT_THAT(model.compute("high", {{"x", pair(1, 2)}}), ElementsAre(1.5, 2));
}

TEST(OnnxFunction, AttributesReachIntoBranches) {
  TinyModel model = with_functions();
  pb::FunctionProto& choose = model.function("choose", {"c", "x", "nothing"}, {"y"});
  choose.add_attribute("factor");
  pb::NodeProto& choice = add_node(choose, "If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    pb::GraphProto& branch = set_graph(choice, name);
    pb::NodeProto& factor = add_node(branch, "Constant", {}, {"f"});
    refer_to_caller(factor, "value_float", "factor", pb::AttributeProto::FLOAT);
    add_node(branch, "Mul", {"x", "f"}, {"product"});
    add_node(branch, "Clip", {"product", "nothing"}, {"z"});
    branch.add_output()->set_name("z");
  }
  add_integers(model.graph(), "one", {}, {1});
  set_factor(add_node(model.graph(), "choose", {"one", "x"}, {"y"}, "local"), 3);
  EXPECT_THAT(model.compute("y", {{"x", pair(1, 2)}}), ElementsAre(3, 6));
}

// Field 11 of FunctionProto, which older messages do not have.
TEST(OnnxFunction, AttributesMayHaveAUsualValue) {
  TinyModel model = with_functions();
  pb::AttributeProto usual;
  usual.set_name("factor");
  usual.set_type(pb::AttributeProto::FLOAT);
  usual.set_f(7);
  pb::FunctionProto& scale = *model.proto.mutable_functions(1);
  scale.GetReflection()->MutableUnknownFields(&scale)->AddLengthDelimited(11)->assign(
      usual.SerializeAsString());
  add_node(model.graph(), "scale", {"x"}, {"y"}, "local");
  set_factor(add_node(model.graph(), "scale", {"x"}, {"z"}, "local"), 2);
  EXPECT_THAT(model.compute("y", {{"x", pair(1, 2)}}), ElementsAre(7, 14));
  EXPECT_THAT(model.compute("z", {{"x", pair(1, 2)}}), ElementsAre(2, 4));
}

TEST(OnnxFunction, FunctionsThatCallThemselvesAreRefused) {
  TinyModel model = with_functions();
  pb::FunctionProto& even = model.function("even", {"x"}, {"y"});
  add_node(even, "odd", {"x"}, {"y"}, "local");
  pb::FunctionProto& odd = model.function("odd", {"x"}, {"y"});
  add_node(odd, "even", {"x"}, {"y"}, "local");
  add_node(model.graph(), "even", {"x"}, {"y"}, "local");
  EXPECT_THAT(refusal<InvalidInput>([&] { model.compute("y", {{"x", pair(1, 2)}}); }),
              HasSubstr("function 'even' calls itself"));
}

// 2^40 nodes from a file of a few kilobytes.
TEST(OnnxFunction, FunctionsThatUnfoldWithoutEndAreRefused) {
  TinyModel model = with_functions();
  for (int level = 0; level < 40; ++level) {
    pb::FunctionProto& f = model.function("f" + std::to_string(level), {"x"}, {"y"});
    const std::string next = "f" + std::to_string(level + 1);
    const bool last = level == 39;
    add_node(f, last ? "Identity" : next, {"x"}, {"a"}, last ? "" : "local");
    add_node(f, last ? "Identity" : next, {"a"}, {"y"}, last ? "" : "local");
  }
  add_node(model.graph(), "f0", {"x"}, {"y"}, "local");
  EXPECT_THAT(refusal<InvalidInput>([&] { model.compute("y", {{"x", pair(1, 2)}}); }),
              HasSubstr("unfold to more than"));
}

TEST(OnnxModel, OptionalInputsMayBeLeftOut) {
  TinyModel model;
  model.input("x", {2});
  add_floats(model.graph(), "bound", {}, {1.5});
  add_node(model.graph(), "Clip", {"x", "", "bound"}, {"y"});
  EXPECT_THAT(model.compute("y", {{"x", pair(1, 2)}}), ElementsAre(1, 1.5));
}

TEST(OnnxModel, ANeededInputThatIsLeftOutIsAnError) {
  TinyModel model;
  model.input("x", {2});
  add_node(model.graph(), "Add", {"x", ""}, {"y"});
  add_node(model.graph(), "Add", {"x"}, {"z"});
  add_node(model.graph(), "If", {""}, {"w"});
  for (const char* output : {"y", "z", "w"}) {
    EXPECT_THAT(refusal<InvalidInput>([&] { model.compute(output, {{"x", pair(1, 2)}}); }),
                AllOf(HasSubstr(std::string("of ") + output), HasSubstr("is missing")));
  }
}

// Quantisers leave the shapes of before in the file.
TEST(OnnxModel, ShapesThatTheFileNotesForItsValuesAreNotTrusted) {
  TinyModel model;
  model.input("x", {-1});
  pb::ValueInfoProto& stale = *model.graph().add_value_info();
  stale.set_name("y");
  stale.mutable_type()->mutable_tensor_type()->set_elem_type(pb::TensorProto::INT8);
  stale.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(77);
  *model.graph().add_output() = stale;
  add_node(model.graph(), "Neg", {"x"}, {"y"});
  EXPECT_THAT(model.compute("y", {{"x", pair(1, 2)}}), ElementsAre(-1, -2));
}

TEST(OnnxModel, EveryOperatorThatIsMissingIsListedAtOnce) {
  TinyModel model(16);
  model.import("custom", 1);
  add_node(model.graph(), "Frobnicate", {}, {"a"});
  add_node(model.graph(), "Frobnicate", {}, {"b"});
  add_node(model.graph(), "Twist", {}, {"c"}, "custom");
  pb::NodeProto& choice = add_node(model.graph(), "If", {"c"}, {"d"});
  add_node(set_graph(choice, "then_branch"), "Loop", {}, {"e"});
  const std::string message = refusal<UnsupportedModel>([&] { OnnxModel(model.read()); });
  EXPECT_THAT(message, AllOf(HasSubstr("opset 16"), HasSubstr("Frobnicate (2 of them"),
                             HasSubstr("'Frobnicate of a'"), HasSubstr("custom.Twist"),
                             HasSubstr("'Loop of e'"), Not(HasSubstr("If"))));
}

TEST(OnnxModel, ShapesThatDoNotFitNameTheNodeAndBothShapes) {
  TinyModel model;
  model.input("x", {-1});
  add_floats(model.graph(), "w", {3}, {1, 2, 3});
  add_node(model.graph(), "Add", {"x", "w"}, {"y"});
  EXPECT_THAT(refusal<InvalidInput>([&] { model.compute("y", {{"x", pair(1, 2)}}); }),
              AllOf(HasSubstr("'Add of y'"), HasSubstr("[2]"), HasSubstr("[3]")));
}

TEST(OnnxModel, AttributesOfTheWrongKindAreRefused) {
  TinyModel model;
  model.input("x", {2});
  set_text(add_node(model.graph(), "Softmax", {"x"}, {"y"}), "axis", "last");
  set_integer(add_node(model.graph(), "Transpose", {"x"}, {"z"}), "perm", 0);
  const std::map<std::string, Tensor> x{{"x", pair(1, 2)}};
  EXPECT_THAT(
      refusal<InvalidInput>([&] { model.compute("y", x); }),
      AllOf(HasSubstr("'Softmax of y'"), HasSubstr("'axis' holds a text where an integer")));
  EXPECT_THAT(
      refusal<InvalidInput>([&] { model.compute("z", x); }),
      AllOf(HasSubstr("'Transpose of z'"), HasSubstr("'perm' holds an integer where integers")));
}

TEST(OnnxModel, AnInputThatIsReadMustBeGiven) {
  TinyModel model;
  model.input("x", {2});
  add_node(model.graph(), "Neg", {"x"}, {"y"});
  EXPECT_THAT(refusal<InvalidInput>([&] { model.compute("y"); }),
              AllOf(HasSubstr("'Neg of y'"), HasSubstr("'x'")));
}

TEST(OnnxModel, ValuesThatAreTooLargeAreRefusedBeforeTheyAreMade) {
  TinyModel model;
  add_integers(model.graph(), "shape", {2}, {1 << 20, 1 << 20});
  add_integers(model.graph(), "limit", {}, {int64_t{1} << 40});
  add_integers(model.graph(), "zero", {}, {0});
  add_integers(model.graph(), "one", {}, {1});
  add_node(model.graph(), "ConstantOfShape", {"shape"}, {"y"});
  add_node(model.graph(), "Range", {"zero", "limit", "one"}, {"z"});
  EXPECT_THAT(refusal<InvalidInput>([&] { model.compute("y"); }),
              HasSubstr("'ConstantOfShape of y'"));
  EXPECT_THAT(refusal<InvalidInput>([&] { model.compute("z"); }), HasSubstr("'Range of z'"));
}

// A large constant of a small file is only a view until the model runs.
TEST(OnnxModel, LargeConstantsAreNotComputedWhileTheGraphIsBuilt) {
  TinyModel model;
  add_integers(model.graph(), "shape", {1}, {int64_t{1} << 28});
  add_node(model.graph(), "ConstantOfShape", {"shape"}, {"zeros"});
  add_node(model.graph(), "Exp", {"zeros"}, {"y"});
  add_node(model.graph(), "Reshape", {"zeros", "zeros"}, {"z"});
  const OnnxModel file(model.read());
  EXPECT_NO_THROW(file.build({.outputs = {"y"}}));
  EXPECT_THAT(refusal<UnsupportedModel>([&] { file.build({.outputs = {"z"}}); }),
              HasSubstr("'Reshape of z'"));
}

// Otherwise the fuzzer would start from what is refused at once.
TEST(OnnxModel, EverySeedOfTheFuzzerRuns) {
  const std::filesystem::path folder = source_folder() / "fuzz/corpus/onnx";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().filename().string());
    const OnnxModel model(read_onnx(entry.path()));
    BuildRequest request;
    for (const DeclaredValue& input : model.file().graph.inputs) {
      Shape shape = input.shape;
      for (int64_t& length : shape) length = length < 0 ? 2 : length;
      request.inputs[input.name] = {shape,
                                    Tensor::zeros(shape, held_as(input.type, request.floats))};
    }
    for (const DeclaredValue& output : model.file().graph.outputs)
      request.outputs.push_back(output.name);
    const BuiltGraph built = model.build(request);
    for (const std::string& output : request.outputs) {
      const Value value = built.values.at(output);
      EXPECT_GT(run(built.graph, {}, {.outputs = {value}})[value].size(), 0) << output;
    }
  }
}

}  // namespace
}  // namespace whyformer::onnx
