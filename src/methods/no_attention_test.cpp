// Models without attention: what attention methods say about them, and what explains them instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "methods/method.h"
#include "tests/support/saved_models.h"
#include "tests/support/tiny_model.h"
#include "whyformer/error.h"
#include "whyformer/heads.h"
#include "whyformer/model.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

using onnx::add_floats;
using onnx::add_integers;
using onnx::add_node;
using onnx::refusal;
using onnx::set_integer;
using onnx::set_integers;
using onnx::TinyModel;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Scores of a row are its numbers times a weight.
TinyModel linear_rows() {
  TinyModel model;
  model.input("x", {-1, 3});
  add_floats(model.graph(), "weight", {3, 2}, {1, 0, 2, -1, -1, 3});
  add_node(model.graph(), "MatMul", {"x", "weight"}, {"logits"});
  model.output("logits");
  return model;
}

// A convolution and the mean over the picture.
TinyModel convolution_of_pictures() {
  TinyModel model;
  model.input("pixel_values", {1, 3, 28, 28});
  add_floats(model.graph(), "kernel", {2, 3, 1, 1}, {1, 0.5f, -1, 0.25f, 1, 2});
  add_node(model.graph(), "Conv", {"pixel_values", "kernel"}, {"image"});
  add_node(model.graph(), "GlobalAveragePool", {"image"}, {"mean"});
  add_node(model.graph(), "Flatten", {"mean"}, {"logits"});
  model.output("logits");
  return model;
}

// The mean of the word vectors.
TinyModel mean_of_words() {
  TinyModel model;
  model.input("input_ids", {-1, -1}, onnx::pb::TensorProto::INT64);
  std::vector<float> table(8 * 2);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>((5 * i) % 7) - 3;
  add_floats(model.graph(), "table", {8, 2}, table);
  add_node(model.graph(), "Gather", {"table", "input_ids"}, {"words"});
  set_integers(add_node(model.graph(), "ReduceMean", {"words"}, {"logits"}), "axes", {1});
  set_integer(*model.graph().mutable_node(1), "keepdims", 0);
  model.output("logits");
  return model;
}

const std::vector<float> kNumbersOfRow{1, 2, 3};
ArrayViews row_arrays() {
  return {{"x",
           {"F32",
            {1, 3},
            {kNumbersOfRow.data(), [](const void*) {}},
            kNumbersOfRow.size() * sizeof(float)}}};
}
RowInput row_input() { return {{"a", "b", "c"}, {1, 2, 3}}; }

// What `explain` says for each attention method, a limit on tokens out of the way.
template <typename Explain>
void expect_refusals(const Explain& explain_with) {
  int methods = 0;
  for (const Method* method : catalogue()) {
    if (!method->needs.attention) continue;
    Options options;
    if (method->info.name == "attention-flow") options = {{"max-tokens", int64_t{1000}}};
    EXPECT_THAT(
        refusal<InvalidInput>([&] { explain_with(MethodRequest{method->info.name, options}); }),
        HasSubstr("no attention was found in this model"))
        << method->info.name;
    ++methods;
  }
  EXPECT_GE(methods, 12);
}

TEST(NoAttention, EveryAttentionMethodSaysSoForRows) {
  const SavedFolder saved(linear_rows());
  const Model model = Model::load(saved.file());
  expect_refusals(
      [&](const MethodRequest& method) { explain(model, row_input(), {.methods = {method}}); });
}

TEST(NoAttention, EveryAttentionMethodSaysSoForArrays) {
  const SavedFolder saved(linear_rows());
  const Model model = Model::load(saved.file(), {.arrays = true});
  expect_refusals(
      [&](const MethodRequest& method) { explain(model, row_arrays(), {.methods = {method}}); });
}

TEST(NoAttention, EveryAttentionMethodSaysSoForPictures) {
  const SavedFolder saved(convolution_of_pictures());
  const Model model = Model::load(saved.file());
  expect_refusals([&](const MethodRequest& method) {
    explain(model, coloured_picture(28), {.methods = {method}});
  });
}

TEST(NoAttention, EveryAttentionMethodSaysSoForTexts) {
  const SavedFolder saved(mean_of_words(), kWordTokenizer);
  const Model model = Model::load(saved.file());
  expect_refusals([&](const MethodRequest& method) {
    explain(model, TextInput{"a good film", {}}, {.methods = {method}});
  });
}

TEST(NoAttention, ARefusalNamesTheMethodsThatDoWithoutMapsAndTheyDo) {
  const SavedFolder saved(mean_of_words(), kWordTokenizer);
  const Model model = Model::load(saved.file());
  const auto explain_with = [&](const std::string& name) {
    return explain(model, TextInput{"a good film", {}}, {.methods = {MethodRequest{name}}});
  };
  const std::string message = refusal<InvalidInput>([&] { explain_with("gae"); });
  const std::string lead = "; methods that read no attention maps: ";
  ASSERT_THAT(message, HasSubstr(lead));
  std::string names = message.substr(message.find(lead) + lead.size()) + ", ";
  int listed = 0;
  for (size_t end = names.find(", "); !names.empty(); end = names.find(", ")) {
    const std::string name = names.substr(0, end);
    names.erase(0, end + 2);
    EXPECT_FALSE(find_method(name).needs.attention) << name;
    ++listed;
    // Pixels and first layers are not there; words are.
    if (name != "occlusion" && name.find("lrp") == std::string::npos) explain_with(name);
  }
  EXPECT_GE(listed, 14);
}

ExplainRequest asking_for(const std::vector<std::string>& names) {
  ExplainRequest request;
  for (const std::string& name : names) request.methods.push_back({name, {}});
  return request;
}

TEST(NoAttention, DefaultMethodsOfRowsAreThoseThatWork) {
  const SavedFolder saved(linear_rows());
  const Model model = Model::load(saved.file());
  RowInput row = row_input();
  for (const int64_t background : {0, 1}) {
    if (background == 1) row.background = {.rows = 1, .columns = 3, .values = {0.5, 1, 0}};
    const Explanation explanation = explain(model, row, asking_for(default_methods(model, row)))[0];
    EXPECT_THAT(explanation.refused, IsEmpty());
    EXPECT_EQ(explanation.attributions.size(), 2u);
  }
}

// Gradient × input of a weighted sum is each number times its weight.
TEST(NoAttention, DefaultMethodsOfArraysAreThoseThatWork) {
  const SavedFolder saved(linear_rows());
  const Model model = Model::load(saved.file(), {.arrays = true});
  const OutputElement target{"logits", {0, 1}};
  ExplainRequest request = asking_for(default_methods(model, row_arrays(), target));
  request.target = target;
  const Explanation explanation = explain(model, row_arrays(), request)[0];
  EXPECT_THAT(explanation.refused, IsEmpty());
  ASSERT_EQ(explanation.attributions.size(), 2u);
  for (const Attribution& one : explanation.attributions) {
    EXPECT_THAT(one.scores, ElementsAre(0, -2, 9)) << one.method;
  }
}

TEST(NoAttention, DefaultMethodsOfPicturesAreThoseThatWork) {
  const SavedFolder saved(convolution_of_pictures());
  const Model model = Model::load(saved.file());
  const Explanation explanation =
      explain(model, coloured_picture(28), asking_for(default_methods(model)))[0];
  EXPECT_THAT(explanation.refused, IsEmpty());
  EXPECT_EQ(explanation.attributions.size(), 3u);
}

TEST(NoAttention, DefaultMethodsOfTextsAreThoseThatWork) {
  const SavedFolder saved(mean_of_words(), kWordTokenizer);
  const Model model = Model::load(saved.file());
  const Explanation explanation =
      explain(model, TextInput{"a good film", {}}, asking_for(default_methods(model)))[0];
  EXPECT_THAT(explanation.refused, IsEmpty());
  EXPECT_EQ(explanation.attributions.size(), 2u);
  EXPECT_THAT(explanation.notes, Not(testing::Contains(HasSubstr("ead-out not recognised"))));
}

TEST(NoAttention, TracesAndHeadsSayThatThereIsNone) {
  const SavedFolder saved(mean_of_words(), kWordTokenizer);
  const Model model = Model::load(saved.file());
  const Trace found = trace(model, TextInput{"a good film", {}}, {});
  EXPECT_THAT(found.attention, IsEmpty());
  EXPECT_THAT(found.notes, testing::Contains(HasSubstr("No attention was found")));
  HeadsRequest request;
  request.measures = {"michel"};
  const std::vector<LabelledInput> texts{{TextInput{"a good film", {}}, {}, "line 1"}};
  EXPECT_THAT(refusal<InvalidInput>([&] { head_importance(model, texts, request); }),
              HasSubstr("no attention was found in this model"));
  const SavedFolder of_pictures(convolution_of_pictures());
  const std::vector<LabelledInput> pictures{{coloured_picture(28), {}, "picture 1"}};
  EXPECT_THAT(refusal<InvalidInput>(
                  [&] { head_importance(Model::load(of_pictures.file()), pictures, request); }),
              HasSubstr("no attention was found in this model"));
}

}  // namespace
}  // namespace whyformer
