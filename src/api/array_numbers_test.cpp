// Which numbers of arrays and files a model gets: all 64 bits where they are asked for, and no id
// that is none.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_model.h"
#include "whyformer/error.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

using onnx::add_node;
using onnx::refusal;
using onnx::TinyModel;

template <typename T>
ArrayView own_view_of(const std::string& type, const Shape& shape, const std::vector<T>& numbers) {
  const auto kept = std::make_shared<std::vector<T>>(numbers);
  return {type, shape, std::shared_ptr<const void>(kept, kept->data()), numbers.size() * sizeof(T)};
}

void add_doubles(TinyModel& model, const std::string& name, const Shape& shape,
                 const std::vector<double>& numbers) {
  auto& tensor = *model.graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::DOUBLE);
  for (const int64_t length : shape) tensor.add_dims(length);
  for (const double number : numbers) tensor.add_double_data(number);
}

double answer_in_double(const TinyModel& model, const ArrayViews& inputs) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model.onnx";
  std::ofstream(file, std::ios::binary) << model.text();
  ExplainRequest request;
  request.target = OutputElement{"y", {0, 0}};
  request.methods = {{"leave-one-out", {}}};
  request.hiding_id = 0;
  request.precision = Precision::kDouble;
  return explain(Model::load(file, {.arrays = true}), inputs, request)[0].target.value;
}

TinyModel table_of_doubles() {
  TinyModel model;
  model.input("ids", {1, 2}, ::onnx::TensorProto::INT64);
  add_doubles(model, "table", {3, 1}, {0.1, 0.7, 1e-9});
  add_node(model.graph(), "Gather", {"table", "ids"}, {"rows"});
  onnx::set_integers(add_node(model.graph(), "ReduceSum", {"rows"}, {"sum"}), "axes", {1});
  onnx::set_integer(*model.graph().mutable_node(1), "keepdims", 0);
  add_node(model.graph(), "Identity", {"sum"}, {"y"});
  model.output("y");
  model.proto.mutable_opset_import(0)->set_version(12);
  return model;
}

TEST(ArrayNumbers, ATableOf64BitsKeepsThem) {
  EXPECT_EQ(
      answer_in_double(table_of_doubles(), {{"ids", own_view_of<int64_t>("I64", {1, 2}, {1, 2})}}),
      0.7 + 1e-9);
}

TEST(ArrayNumbers, ArraysOf64BitsKeepThem) {
  TinyModel model;
  model.input("x", {1, 3}, ::onnx::TensorProto::DOUBLE);
  add_node(model.graph(), "Neg", {"x"}, {"y"});
  model.output("y");
  EXPECT_EQ(answer_in_double(model, {{"x", own_view_of<double>("F64", {1, 3}, {0.1, 0.2, 0.3})}}),
            -0.1);
}

TEST(ArrayNumbers, IdsWithAFractionAreRefused) {
  const auto with = [](float id) {
    return [id] {
      answer_in_double(table_of_doubles(), {{"ids", own_view_of<float>("F32", {1, 2}, {1, id})}});
    };
  };
  EXPECT_NO_THROW(with(2)());
  EXPECT_THAT(
      refusal<InvalidInput>(with(1.5f)),
      testing::HasSubstr("'ids' takes whole numbers, but element 1 of what was given is 1.5"));
  EXPECT_THAT(refusal<InvalidInput>(with(std::nanf(""))), testing::HasSubstr("whole numbers"));
}

}  // namespace
}  // namespace whyformer
