// Text files that were exported for one number of tokens: padding fills texts up, and the answers
// are those of the same model for any number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/saved_models.h"
#include "tests/support/tiny_model.h"
#include "whyformer/answers.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using onnx::add_floats;
using onnx::add_integers;
using onnx::add_node;
using onnx::refusal;
using onnx::set_integer;
using onnx::set_integers;
using onnx::TinyModel;
using testing::Contains;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;

constexpr int64_t kWrittenTokens = 6;

std::vector<float> some_numbers(size_t count, size_t step) {
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>((step * i) % 11) / 5 - 1;
  return numbers;
}

enum class FileLengths { kOne, kAny };

// Word vectors and positions; positions of one length are weights, others are cut to the length.
void add_embeddings(TinyModel& model, FileLengths lengths) {
  auto& graph = model.graph();
  add_floats(graph, "table", {8, 2}, some_numbers(16, 7));
  add_floats(graph, "places", {1, kWrittenTokens, 2}, some_numbers(2 * kWrittenTokens, 3));
  add_node(graph, "Gather", {"table", "input_ids"}, {"words"});
  if (lengths == FileLengths::kOne) {
    add_node(graph, "Add", {"words", "places"}, {"x"});
    return;
  }
  add_integers(graph, "one", {1}, {1});
  add_integers(graph, "zero", {1}, {0});
  add_node(graph, "Shape", {"input_ids"}, {"shape"});
  add_node(graph, "Gather", {"shape", "one"}, {"length"});
  add_node(graph, "Slice", {"places", "zero", "length", "one"}, {"own_places"});
  add_node(graph, "Add", {"words", "own_places"}, {"x"});
}

// One attention of one head, which the mask keeps from padding; the first token is read.
TinyModel reader_of_texts(FileLengths lengths) {
  TinyModel model;
  const Shape shape = lengths == FileLengths::kOne ? Shape{1, kWrittenTokens} : Shape{-1, -1};
  model.input("input_ids", shape, onnx::pb::TensorProto::INT64);
  model.input("attention_mask", shape, onnx::pb::TensorProto::INT64);
  add_embeddings(model, lengths);
  auto& graph = model.graph();
  add_integers(graph, "head_axis", {1}, {1});
  add_integers(graph, "mask_axes", {2}, {1, 2});
  add_floats(graph, "shown", {}, {1});
  add_floats(graph, "far", {}, {-1e9f});
  add_integers(graph, "first", {}, {0});
  add_floats(graph, "weight", {2, 3}, some_numbers(6, 4));
  add_node(graph, "Unsqueeze", {"x", "head_axis"}, {"heads"});
  set_integers(add_node(graph, "Transpose", {"heads"}, {"keys"}), "perm", {0, 1, 3, 2});
  add_node(graph, "MatMul", {"heads", "keys"}, {"scores"});
  set_integer(add_node(graph, "Cast", {"attention_mask"}, {"mask"}), "to",
              onnx::pb::TensorProto::FLOAT);
  add_node(graph, "Sub", {"shown", "mask"}, {"hidden"});
  add_node(graph, "Mul", {"hidden", "far"}, {"penalty"});
  add_node(graph, "Unsqueeze", {"penalty", "mask_axes"}, {"penalties"});
  add_node(graph, "Add", {"scores", "penalties"}, {"masked"});
  set_integer(add_node(graph, "Softmax", {"masked"}, {"map"}), "axis", -1);
  add_node(graph, "MatMul", {"map", "heads"}, {"context"});
  add_node(graph, "Squeeze", {"context", "head_axis"}, {"merged"});
  set_integer(add_node(graph, "Gather", {"merged", "first"}, {"row"}), "axis", 1);
  add_node(graph, "MatMul", {"row", "weight"}, {"logits"});
  model.output("logits");
  return model;
}

struct BothModels {
  SavedFolder one{reader_of_texts(FileLengths::kOne), kWordTokenizer};
  SavedFolder any{reader_of_texts(FileLengths::kAny), kWordTokenizer};
  Model fixed = Model::load(one.file());
  Model free = Model::load(any.file());
};

const std::vector<std::string> kShortTexts{"film", "a film", "good a film", "a bad good film"};

TEST(FixedLength, AnswersAreThoseOfTheModelForAnyLength) {
  const BothModels both;
  std::vector<InputValue> texts;
  for (const std::string& text : kShortTexts) texts.push_back(TextInput{text, {}});
  const Answers fixed = answers(both.fixed, texts, {}), free = answers(both.free, texts, {});
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_THAT(fixed.inputs[i].values, Pointwise(DoubleNear(1e-6), free.inputs[i].values))
        << kShortTexts[i];
  }
}

TEST(FixedLength, ScoresOfTheTextAreThoseOfTheModelForAnyLengthAndPaddingGetsNone) {
  const BothModels both;
  ExplainRequest request;
  for (const char* name : {"gae", "rollout", "integrated-gradients", "leave-one-out", "exact-shap"})
    request.methods.push_back({name, {}});
  request.methods.push_back({"leave-one-out", {{"how", std::string("drop")}}});
  request.methods.push_back({"leave-one-out", {{"how", std::string("delete")}}});
  const TextInput text{"good film", {}};
  const Explanation fixed = explain(both.fixed, text, request)[0],
                    free = explain(both.free, text, request)[0];
  ASSERT_EQ(fixed.units.size(), static_cast<size_t>(kWrittenTokens));
  EXPECT_EQ(fixed.units.back().text, "[PAD]");
  EXPECT_TRUE(fixed.units.back().special);
  EXPECT_THAT(fixed.notes, Contains(HasSubstr("exactly 6 tokens: 2 of them are padding")));
  ASSERT_EQ(fixed.attributions.size(), free.attributions.size());
  for (size_t i = 0; i < free.attributions.size(); ++i) {
    std::vector<double> expected = free.attributions[i].scores;
    expected.resize(kWrittenTokens, 0);
    EXPECT_THAT(fixed.attributions[i].scores, Pointwise(DoubleNear(1e-6), expected))
        << free.attributions[i].method << " " << i;
  }
}

TEST(FixedLength, LongerTextsAreCutOffAndSaidToBe) {
  const BothModels both;
  ExplainRequest request;
  request.methods = {{"gae", {}}};
  const Explanation explanation =
      explain(both.fixed, TextInput{"a good good bad bad film", {}}, request)[0];
  EXPECT_EQ(explanation.units.size(), static_cast<size_t>(kWrittenTokens));
  EXPECT_THAT(explanation.notes, Contains(HasSubstr("cut off at its maximum of 6")));
}

TEST(FixedLength, InspectionLooksAtThatLength) {
  const BothModels both;
  const ModelInfo info = both.fixed.inspect();
  EXPECT_EQ(info.sites.size(), 1u);
  EXPECT_EQ(info.max_tokens, kWrittenTokens);
}

// A file may name a length and yet work with fewer tokens: then texts stay as they are.
TEST(FixedLength, AFileThatWorksWithFewerTokensGetsNoPadding) {
  TinyModel model = reader_of_texts(FileLengths::kAny);
  for (auto& input : *model.graph().mutable_input()) {
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.mutable_dim(0)->set_dim_value(1);
    shape.mutable_dim(1)->set_dim_value(kWrittenTokens);
  }
  const SavedFolder saved(model, kWordTokenizer);
  ExplainRequest request;
  request.methods = {{"gae", {}}};
  EXPECT_EQ(explain(Model::load(saved.file()), TextInput{"a film", {}}, request)[0].units.size(),
            4u);
}

}  // namespace
}  // namespace whyformer
