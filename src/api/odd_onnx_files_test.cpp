// Small files with something unusual about them, from reading to what is said about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "formats/weights.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_model.h"
#include "whyformer/error.h"
#include "whyformer/lengths.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

using onnx::add_floats;
using onnx::add_integers;
using onnx::add_node;
using onnx::refusal;
using onnx::set_integer;
using onnx::set_integers;
using onnx::set_text;
using onnx::TinyModel;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SavedModel {
 public:
  explicit SavedModel(const TinyModel& model) { save(path_, model.text()); }
  const std::filesystem::path& path() const { return path_; }

 private:
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "model.onnx";
};

void name_axes(TinyModel& model, int input, const std::vector<std::string>& names) {
  auto& shape =
      *model.graph().mutable_input(input)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (size_t axis = 0; axis < names.size(); ++axis) {
    if (!names[axis].empty()) shape.mutable_dim(static_cast<int>(axis))->set_dim_param(names[axis]);
  }
}

Shape shape_of(const ModelInfo& info, const std::string& input) {
  for (const InputInfo& one : info.inputs) {
    if (one.name == input) return one.shape;
  }
  return {};
}

TEST(OddFiles, ArraysOfAnotherRankThanDeclaredAreRefused) {
  const Model model = Model::load(source_folder() / "examples/data/wine.onnx", {.arrays = true});
  const ModelInfo info = model.inspect();
  const int64_t columns = info.inputs[0].shape[1];
  const auto numbers = std::make_shared<std::vector<float>>(columns, 0.5f);
  const auto given = [&](const Shape& shape) {
    const std::shared_ptr<const void> data(numbers, numbers->data());
    const size_t bytes = numbers->size() * sizeof(float);
    return ArrayViews{{info.inputs[0].name, ArrayView{"F32", shape, data, bytes}}};
  };
  EXPECT_NO_THROW(model.run(given({1, columns})));
  EXPECT_THAT(refusal<InvalidInput>([&] { model.run(given({1, 1, columns})); }),
              AllOf(HasSubstr("takes 2 axes, ["),
                    HasSubstr("but what was given has 3: [1, 1, " + std::to_string(columns))));
  EXPECT_THAT(refusal<InvalidInput>([&] { model.run(given({columns})); }),
              HasSubstr("given has 1: ["));
}

// Columns 0…0 and 0…4 of x.
TinyModel with_empty_output() {
  TinyModel model;
  model.input("x", {1, 4});
  add_integers(model.graph(), "lengths", {2}, {0, 4});
  set_integer(add_node(model.graph(), "Split", {"x", "lengths"}, {"nothing", "all"}), "axis", 1);
  model.output("nothing");
  model.output("all");
  return model;
}

TEST(OddOnnxFiles, AnOutputWithoutElementsCannotBeExplainedButOthersCan) {
  const SavedModel saved(with_empty_output());
  const Model model = Model::load(saved.path(), {.arrays = true});
  const std::vector<float> x{1, 2, 3, 4};
  const ArrayViews inputs{
      {"x", {"F32", {1, 4}, {x.data(), [](const void*) {}}, x.size() * sizeof(float)}}};
  const auto says =
      AllOf(HasSubstr("'nothing'"), HasSubstr("no elements"), HasSubstr("another output"));
  EXPECT_THAT(refusal<InvalidInput>(
                  [&] { trace(model, inputs, {.target = OutputElement{"nothing", {}}}); }),
              says);
  EXPECT_THAT(refusal<InvalidInput>(
                  [&] { trace(model, inputs, {.target = OutputElement{"nothing", {0, 0}}}); }),
              says);
  ExplainRequest request;
  request.methods = {{"saliency", {}}};
  request.target = OutputElement{.output = "nothing"};
  EXPECT_THAT(refusal<InvalidInput>([&] { explain(model, inputs, request); }), says);
  EXPECT_EQ(trace(model, inputs, {.target = OutputElement{"all", {}}}).target.value, 4);
}

// Self-attention of one head without projections, and a number for each token: [1, 5].
TinyModel with_a_number_for_each_token(const Shape& input,
                                       const std::vector<int64_t>& tokens_last_but_one) {
  TinyModel model;
  model.input("x", input);
  set_integers(add_node(model.graph(), "Transpose", {"x"}, {"rows"}), "perm", tokens_last_but_one);
  add_integers(model.graph(), "axis", {1}, {1});
  add_node(model.graph(), "Unsqueeze", {"rows", "axis"}, {"heads"});
  set_integers(add_node(model.graph(), "Transpose", {"heads"}, {"keys"}), "perm", {0, 1, 3, 2});
  add_node(model.graph(), "MatMul", {"heads", "keys"}, {"scores"});
  set_integer(add_node(model.graph(), "Softmax", {"scores"}, {"map"}), "axis", -1);
  add_node(model.graph(), "MatMul", {"map", "heads"}, {"context"});
  add_node(model.graph(), "Squeeze", {"context", "axis"}, {"merged"});
  add_integers(model.graph(), "width", {1}, {2});
  set_integer(add_node(model.graph(), "ReduceSum", {"merged", "width"}, {"y"}), "keepdims", 0);
  model.output("y");
  return model;
}

// Attention methods start from the row of the token whose number is explained; the batch may stand
// behind the tokens.
TEST(OddOnnxFiles, OneNumberOfEachTokenIsReadAtItsToken) {
  std::vector<float> x(5 * 3);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((5 * i) % 7) / 3 - 1;
  const std::pair<Shape, std::vector<int64_t>> layouts[] = {{{1, 5, 3}, {0, 1, 2}},
                                                            {{5, 1, 3}, {1, 0, 2}}};
  for (const auto& [shape, order] : layouts) {
    const SavedModel saved(with_a_number_for_each_token(shape, order));
    const Model model = Model::load(saved.path(), {.arrays = true});
    const ArrayViews inputs{
        {"x", {"F32", shape, {x.data(), [](const void*) {}}, x.size() * sizeof(float)}}};
    for (const int64_t token : {1, 4}) {
      ExplainRequest request;
      request.methods = {{"raw-attention", {}}};
      request.target = OutputElement{"y", {0, token}};
      std::vector<double> expected;
      double sum = 0;
      for (int64_t key = 0; key < 5; ++key) {
        double score = 0;
        for (int64_t d = 0; d < 3; ++d)
          score += static_cast<double>(x[token * 3 + d]) * x[key * 3 + d];
        expected.push_back(std::exp(score));
        sum += expected.back();
      }
      for (double& weight : expected) weight /= sum;
      EXPECT_THAT(explain(model, inputs, request)[0].attributions.at(0).scores,
                  testing::Pointwise(testing::DoubleNear(1e-6), expected))
          << token;
    }
  }
}

// Steps of a series of numbers as tokens.
TEST(OddOnnxFiles, PartsOfAnAxisAreFramesOfIt) {
  TinyModel model;
  model.input("x", {1, 12});
  add_integers(model.graph(), "cut", {3}, {1, 4, 3});
  add_node(model.graph(), "Reshape", {"x", "cut"}, {"parts"});
  add_floats(model.graph(), "places", {4, 3}, std::vector<float>(12, 0.5f));
  add_node(model.graph(), "Add", {"parts", "places"}, {"tokens"});
  add_integers(model.graph(), "axis", {1}, {1});
  add_node(model.graph(), "Unsqueeze", {"tokens", "axis"}, {"heads"});
  set_integers(add_node(model.graph(), "Transpose", {"heads"}, {"keys"}), "perm", {0, 1, 3, 2});
  add_node(model.graph(), "MatMul", {"heads", "keys"}, {"scores"});
  set_integer(add_node(model.graph(), "Softmax", {"scores"}, {"map"}), "axis", -1);
  add_node(model.graph(), "MatMul", {"map", "heads"}, {"y"});
  model.output("y");
  const SavedModel saved(model);
  const ModelInfo info = inspect(saved.path());
  ASSERT_EQ(info.streams.size(), 1u);
  EXPECT_EQ(info.streams[0].units, "frames of x");
  const std::vector<float> x{1, 0, 2, 0, 0, 0, 0, 3, 1, 1, 1, 1};
  const ArrayViews inputs{
      {"x", {"F32", {1, 12}, {x.data(), [](const void*) {}}, x.size() * sizeof(float)}}};
  ExplainRequest request;
  request.methods = {{"saliency", {}}};
  EXPECT_EQ(explain(Model::load(saved.path(), {.arrays = true}), inputs, request)[0]
                .attributions.at(0)
                .scores.size(),
            4u);
}

// A picture as [rows, columns, channels] goes into a Linear as it is; one as [channels, rows,
// columns] does not.
TEST(OddOnnxFiles, PositionsOfAPictureAreWhereItsChannelsAreNot) {
  TinyModel model;
  model.input("x", {1, 3, 5, 2});
  add_floats(model.graph(), "weight", {2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  add_node(model.graph(), "MatMul", {"x", "weight"}, {"states"});
  add_integers(model.graph(), "positions", {2}, {1, 2});
  set_integer(add_node(model.graph(), "ReduceMean", {"states", "positions"}, {"y"}), "keepdims", 0);
  model.output("y");
  const SavedModel saved(model);
  const std::vector<float> x(30, 1);
  const ArrayViews inputs{
      {"x", {"F32", {1, 3, 5, 2}, {x.data(), [](const void*) {}}, x.size() * sizeof(float)}}};
  ExplainRequest request;
  request.methods = {{"saliency", {}}};
  const Explanation found =
      explain(Model::load(saved.path(), {.arrays = true}), inputs, request)[0];
  EXPECT_EQ(found.attributions.at(0).scores.size(), 15u);
  EXPECT_THAT(found.units.back().text, HasSubstr("row 2, column 4"));
}

TEST(OddOnnxFiles, APictureProcessorOfAnotherSizeThanTheFilesIsRefused) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(source_folder() / "tests/golden/onnx/models/vit.eager.legacy.17.onnx",
                             folder.path() / "model.onnx");
  const PictureFile picture{source_folder() / "tests/data/pictures/objects/object-000.png"};
  const ExplainRequest request{.methods = {{"saliency", {}}}};
  const auto explained_with = [&](const std::string& size) {
    save(folder.path() / "preprocessor_config.json",
         R"({"image_processor_type": "ViTImageProcessor", "size": {"height": )" + size +
             R"(, "width": 32}})");
    return explain(Model::load(folder.path()), picture, request).size();
  };
  EXPECT_EQ(explained_with("32"), 1u);
  EXPECT_THAT(refusal<InvalidInput>([&] { explained_with("48"); }), HasSubstr("made for 32x32"));
}

// A folder with a tokenizer, and a model that looks ids up in a table.
class TextFolder {
 public:
  explicit TextFolder(const TinyModel& model) {
    for (const char* file : {"tokenizer.json", "tokenizer_config.json"}) {
      std::filesystem::copy_file(source_folder() / "models/sentiment" / file, path() / file);
    }
    save(path() / "model.onnx", model.text());
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  const TemporaryFolder folder_;
};

TinyModel with_rows_of_a_table(const std::string& output, bool one_number) {
  constexpr int64_t kIds = 40000;
  TinyModel model;
  model.input("input_ids", {-1, -1}, onnx::pb::TensorProto::INT64);
  name_axes(model, 0, {"batch", "tokens"});
  std::vector<float> table(3 * kIds);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i % 13);
  add_floats(model.graph(), "table", {kIds, 3}, table);
  add_node(model.graph(), "Gather", {"table", "input_ids"}, {one_number ? "rows" : output});
  add_integers(model.graph(), "width", {1}, {2});
  if (one_number)
    set_integer(add_node(model.graph(), "ReduceSum", {"rows", "width"}, {output}), "keepdims", 0);
  model.output(output);
  return model;
}

TEST(OddOnnxFiles, NumbersForEachTokenAreNoLabelsOfAText) {
  const TextFolder folder(with_rows_of_a_table("start_logits", true));
  EXPECT_THAT(refusal<UnsupportedModel>([&] { default_methods(Model::load(folder.path())); }),
              AllOf(HasSubstr("'start_logits' has one number for each token"),
                    HasSubstr("choose one of them")));
}

TEST(OddOnnxFiles, AnswersForEachTokenAreSaidToBeAveraged) {
  const ExplainRequest request{.methods = {{"saliency", {}}}, .target = int64_t{0}};
  for (const std::string output : {"logits", "last_hidden_state"}) {
    const TextFolder folder(with_rows_of_a_table(output, false));
    const std::vector<std::string> notes =
        explain(Model::load(folder.path()), TextInput{"a film", {}}, request)[0].notes;
    EXPECT_EQ(
        std::count_if(notes.begin(), notes.end(),
                      [](const std::string& note) {
                        return note.starts_with("The output 'logits' has numbers for each token");
                      }),
        output == "logits" ? 1 : 0);
  }
}

TEST(OddOnnxFiles, WithoutATargetAnswersForEachTokenAreRefused) {
  const ExplainRequest request{.methods = {{"saliency", {}}}};
  const auto explained_output = [&](const std::string& output) {
    const TextFolder folder(with_rows_of_a_table(output, false));
    explain(Model::load(folder.path()), TextInput{"a film", {}}, request);
  };
  EXPECT_THAT(
      refusal<UnsupportedModel>([&] { explained_output("logits"); }),
      AllOf(HasSubstr("'logits' answers for each token"), HasSubstr("choose it as the target")));
  EXPECT_NO_THROW(explained_output("last_hidden_state"));
}

TEST(OddOnnxFiles, AxesOfOneNameGetOneLengthWhicheverInputComesFirst) {
  for (const bool mask_first : {false, true}) {
    TinyModel model;
    const auto picture = [&] { model.input("pixel_values", {-1, 3, -1, -1}); };
    const auto mask = [&] { model.input("pixel_mask", {-1, -1, -1}); };
    if (mask_first)
      mask(), picture();
    else
      picture(), mask();
    name_axes(model, mask_first ? 1 : 0, {"batch", "", "height", "width"});
    name_axes(model, mask_first ? 0 : 1, {"batch", "height", "width"});
    model.input("steps", {-1});
    name_axes(model, 2, {"width"});
    add_node(model.graph(), "Mul", {"pixel_values", "pixel_mask"}, {"seen"});
    add_node(model.graph(), "Add", {"seen", "steps"}, {"y"});
    model.output("y");
    const SavedModel saved(model);
    const ModelInfo info = inspect(saved.path());
    EXPECT_EQ(shape_of(info, "pixel_values"), (Shape{1, 3, 224, 224})) << mask_first;
    EXPECT_EQ(shape_of(info, "pixel_mask"), (Shape{1, 224, 224})) << mask_first;
    EXPECT_EQ(shape_of(info, "steps"), (Shape{224})) << mask_first;
  }
}

// y = x + Σ sin(zeros[length])
TinyModel with_sum_over(int64_t length) {
  TinyModel model;
  model.input("x", {1, 4});
  add_integers(model.graph(), "length", {1}, {length});
  add_node(model.graph(), "ConstantOfShape", {"length"}, {"many"});
  add_node(model.graph(), "Sin", {"many"}, {"sines"});
  set_integer(add_node(model.graph(), "ReduceSum", {"sines"}, {"sum"}), "keepdims", 0);
  add_node(model.graph(), "Add", {"x", "sum"}, {"y"});
  model.output("y");
  return model;
}

TEST(OddOnnxFiles, ValuesOutOfAllProportionToTheFileAreRefusedWhenItIsBuilt) {
  const SavedModel saved(with_sum_over(int64_t{1} << 31));
  const std::string message = refusal<InvalidInput>([&] { inspect(saved.path()); });
  EXPECT_THAT(message, AllOf(HasSubstr("'ConstantOfShape of many'"), HasSubstr("8589.9 MB"),
                             HasSubstr("only 5 numbers")));
  EXPECT_THAT(message, Not(HasSubstr("--shape")));
}

TEST(OddOnnxFiles, LargeValuesOfAUsualSizeAreAllowed) {
  const SavedModel saved(with_sum_over(int64_t{1} << 26));
  EXPECT_EQ(shape_of(inspect(saved.path()), "x"), (Shape{1, 4}));
}

onnx::pb::TensorProto& add_constant(TinyModel& model, const std::string& name) {
  onnx::pb::AttributeProto& value =
      *add_node(model.graph(), "Constant", {}, {name}).add_attribute();
  value.set_name("value");
  value.set_type(onnx::pb::AttributeProto::TENSOR);
  return *value.mutable_t();
}

// 4 × 3 + 3 weights; the 2 that everything is multiplied by is none.
TEST(OddOnnxFiles, WeightsThatAreConstantNodesAreCounted) {
  TinyModel model;
  model.input("x", {1, 4});
  for (const auto& [name, shape] :
       std::map<std::string, Shape>{{"weight", {4, 3}}, {"bias", {3}}, {"two", {}}}) {
    onnx::pb::TensorProto& tensor = add_constant(model, name);
    tensor.set_data_type(onnx::pb::TensorProto::FLOAT);
    for (const int64_t length : shape) tensor.add_dims(length);
    for (int64_t i = 0; i < element_count(shape); ++i) tensor.add_float_data(2);
  }
  add_node(model.graph(), "MatMul", {"x", "weight"}, {"product"});
  add_node(model.graph(), "Add", {"product", "bias"}, {"sum"});
  add_node(model.graph(), "Mul", {"sum", "two"}, {"y"});
  model.output("y");
  const SavedModel saved(model);
  EXPECT_EQ(inspect(saved.path()).parameters, 15);
  EXPECT_EQ(inspect(saved.path()).tensors, 2);
}

TEST(OddOnnxFiles, LengthsAreAskedForOnlyWhereTheyDoNotFit) {
  TinyModel missing;
  missing.input("x", {1, -1});
  add_node(missing.graph(), "Add", {"x", "weight"}, {"y"});
  missing.output("y");
  TinyModel fixed;
  fixed.input("x", {1, 4});
  onnx::add_floats(fixed.graph(), "weight", {3}, {1, 2, 3});
  add_node(fixed.graph(), "Add", {"x", "weight"}, {"y"});
  fixed.output("y");
  for (const TinyModel& model : {missing, fixed}) {
    const SavedModel saved(model);
    EXPECT_THAT(refusal<InvalidInput>([&] { inspect(saved.path()); }),
                AllOf(HasSubstr("Add of y"), Not(HasSubstr("--shape"))));
  }
  TinyModel open = fixed;
  open.graph().clear_input();
  open.input("x", {1, -1});
  const SavedModel saved(open);
  EXPECT_THAT(refusal<LengthsDoNotFit>([&] { inspect(saved.path()); }),
              AllOf(HasSubstr("does not take inputs of x=["), Not(HasSubstr("--"))));
}

TEST(OddOnnxFiles, AConstantThatIsTooLargeToComputeIsNotSaidToDependOnInputs) {
  TinyModel model;
  model.input("x", {1, 4});
  add_integers(model.graph(), "length", {1}, {int64_t{1} << 25});
  add_node(model.graph(), "ConstantOfShape", {"length"}, {"many"});
  add_node(model.graph(), "NonZero", {"many"}, {"places"});
  model.output("places");
  const SavedModel saved(model);
  EXPECT_THAT(
      refusal<UnsupportedModel>([&] { inspect(saved.path()); }),
      AllOf(HasSubstr("NonZero of places"), HasSubstr("too large"), Not(HasSubstr("depends on"))));
}

TEST(OddOnnxFiles, NamesAndTextsOfTheFileNeitherBreakTheLineNorFillTheScreen) {
  TinyModel unknown;
  unknown.input("x", {1, 4});
  add_node(unknown.graph(), "Bad\nOp\x1b[31m", {"x"}, {"y"});
  unknown.output("y");
  TinyModel unfit;
  unfit.input("x", {1, 4});
  onnx::add_floats(unfit.graph(), "weight", {3}, {1, 2, 3});
  add_node(unfit.graph(), "Add", {"x", "weight"}, {"y"}).set_name("a\nb\x1b[31m");
  unfit.output("y");
  TinyModel lengthy;
  lengthy.input("x", {1, 4});
  set_text(add_node(lengthy.graph(), "Einsum", {"x", "x"}, {"y"}), "equation",
           std::string(100'000, 'a'));
  lengthy.output("y");
  for (const TinyModel& model : {unknown, unfit, lengthy}) {
    const SavedModel saved(model);
    const std::string message = refusal<Error>([&] { inspect(saved.path()); });
    EXPECT_NE(message, "");
    EXPECT_LT(message.size(), 400);
    EXPECT_THAT(message, AllOf(Not(HasSubstr("\n")), Not(HasSubstr("\x1b"))));
  }
}

}  // namespace
}  // namespace whyformer
