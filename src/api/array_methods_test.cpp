// Every method on arrays: other routes to the same scores, and invariants.
#include "methods/method.h"
#include "tests/support/array_case.h"
#include "tests/support/golden_model.h"

namespace whyformer {
namespace {

TEST(ArrayGradients, OfNumbersAreTheNormsOfTheTracedGradient) {
  const Case two(kTwoStreams);
  const std::vector<float> gradient = tensor(two.trace, "input_gradient.visual_feats");
  std::vector<double> norms(6, 0);
  for (size_t i = 0; i < gradient.size(); ++i) norms[i / 10] += double{gradient[i]} * gradient[i];
  for (double& x : norms) x = std::sqrt(x);
  expect_scores(two.run("saliency"), 1, norms);
}

TEST(ArrayGradients, OfPatchesCoverTheirPixels) {
  const Case one(kObjects);
  const std::vector<float> gradient = tensor(one.trace, "input_gradient.pixel_values");
  std::vector<double> sums(16, 0);
  for (size_t i = 0; i < gradient.size(); ++i)
    sums[i / 32 % 32 / 8 * 4 + i % 32 / 8] += std::abs(double{gradient[i]});
  expect_scores(one.run("saliency", {Choice{"norm", std::string("l1")}}), 0, sums);
}

// Whisper: two inputs go together in this file, and a convolution halves the frames.
TEST(ArrayGradients, OfFramesAndOfASecondInput) {
  const Case one("whisper.eager.new.20", {"", {1, 3, 7}});
  const std::vector<float> gradient = tensor(one.trace, "input_gradient.input_features");
  std::vector<double> sums(10, 0);
  for (size_t i = 8 * 20; i < gradient.size(); ++i)
    sums[i % 20 / 2] += std::abs(double{gradient[i]});
  expect_scores(one.run("saliency", {Choice{"norm", std::string("l1")}}), 0, sums);
}

TEST(ArrayGradients, AddUpAlongTheWayFromANeutralInput) {
  for (const std::string name : {kEncoderDecoder, kTwoStreams, "visual-bert.eager.legacy.17"}) {
    SCOPED_TRACE(name);
    const Case one(name);
    for (const std::string baseline : {"auto", "zero"}) {
      // T5 normalises without a mean: near vectors of 0 its gradient has no bound.
      if (name == kEncoderDecoder && baseline == "zero") continue;
      const Explanation found =
          in_double(one, "integrated-gradients", {Choice{"baseline", baseline}});
      const Attribution& scores = found.attributions[0];
      EXPECT_LE(std::abs(*scores.completeness_gap), 2e-3 * std::abs(total(scores.scores)));
    }
  }
}

// The same ids as a text and as arrays: one stream, so every method must say the same.
TEST(ArrayMethods, SayTheSameAsOnATextOfTheSameIds) {
  const std::vector<std::pair<std::string, Options>> methods{
      {"gae", {}},
      {"rollout", {}},
      {"raw-attention", {}},
      {"attention-flow", {}},
      {"grad-cam", {}},
      {"grad-sam", {}},
      {"saliency", {}},
      {"gradient-x-input", {}},
      {"smooth-grad", {}},
      {"transformer-attribution", {}},
      {"attn-lrp", {}},
      {"cp-lrp", {}},
      {"partial-lrp", {}},
      {"lrp", {}},
      {"attention-norm", {}},
      {"globenc", {}},
      {"alti", {}},
      {"decompx", {}},
      {"integrated-gradients", {Choice{"baseline", std::string("zero")}}}};
  const GoldenModel text = GoldenModel::from_onnx("bert");
  const GoldenInput& input = text.inputs[0];
  ArrayViews views;
  const std::vector<std::vector<int64_t>> rows{input.batch.ids[0], input.batch.types[0]};
  for (const size_t i : {0, 1}) {
    views[i == 0 ? "input_ids" : "token_type_ids"] = {
        "I64",
        {1, input.tokens()},
        std::shared_ptr<const void>(std::shared_ptr<void>(), rows[i].data()),
        rows[i].size() * sizeof(int64_t)};
  }
  const Model model =
      Model::load(source_folder() / "tests/golden/onnx/text/bert.onnx", {.arrays = true});
  for (const auto& [name, options] : methods) {
    SCOPED_TRACE(name);
    const Method& method = find_method(name);
    Encoding encoding = input.encoding();
    encoding.special.assign(encoding.ids.size(),
                            false);  // arrays do not tell which tokens are special
    auto expected = run_of(*text.model, encoding,
                           {.head = text.head(),
                            .needs = {.attention = true,
                                      .attention_gradient = true,
                                      .embedding_gradient = true,
                                      .values = true},
                            .dtype = DType::kFloat64});
    expected.set_target(input.targets[0]);
    ExplainRequest request;
    request.target = OutputElement{.indices = {0, input.targets[0]}};
    request.methods = {{name, options}};
    request.precision = Precision::kDouble;
    const Explanation found = explain(model, views, request)[0];
    expect_near(found.attributions[0].scores,
                method.run(expected, complete_options(method, options)).values, 1e-9);
  }
}

// What the model answers when some tokens are hidden, by running it on changed arrays.
class Hiding {
 public:
  explicit Hiding(const Case& one)
      : model_(Model::load(one.model, {.arrays = true})),
        output_(one.trace.element.output),
        indices_(one.trace.element.indices) {
    for (const auto& [name, stored] : read_safetensors(map_file(one.inputs.path()), "inputs")) {
      numbers_[name] = to_float32(stored);
      shapes_[name] = stored.shape;
    }
  }
  std::map<std::string, std::vector<float>>& numbers() { return numbers_; }
  double value() const {
    ArrayViews views;
    for (const auto& [name, values] : numbers_) {
      views[name] = {"F32", shapes_.at(name),
                     std::shared_ptr<const void>(std::shared_ptr<void>(), values.data()),
                     values.size() * sizeof(float)};
    }
    const OutputArray answer = model_.run(views).at(output_);
    int64_t at = 0;
    for (size_t axis = 0; axis < indices_.size(); ++axis)
      at = at * answer.shape[axis] + indices_[axis];
    return answer.values[at];
  }

 private:
  Model model_;
  std::string output_;
  std::vector<int64_t> indices_;
  std::map<std::string, std::vector<float>> numbers_;
  std::map<std::string, std::vector<int64_t>> shapes_;
};

TEST(ArrayHiding, TakesTokensAndNumbersAwayOneByOne) {
  const Case two(kTwoStreams);
  const Explanation found = two.run("leave-one-out");
  std::vector<double> tokens, regions;
  for (int i = 0; i < 9; ++i) {
    Hiding hiding(two);
    hiding.numbers()["input_ids"][i] = 1;
    tokens.push_back(two.trace.value - hiding.value());
  }
  for (int i = 0; i < 6; ++i) {
    Hiding hiding(two);
    std::fill_n(hiding.numbers()["visual_feats"].begin() + 10 * i, 10, 0.0f);
    regions.push_back(two.trace.value - hiding.value());
  }
  expect_near(stream_of(found, 0), tokens, 1e-4);
  expect_near(stream_of(found, 1), regions, 1e-4);
  expect_near(found.attributions[0].scores, two.run("occlusion").attributions[0].scores, 1e-5);
}

TEST(ArrayHiding, OfPatchesPaintsTheirMeanColour) {
  const Case one(kObjects);
  Hiding hiding(one);
  std::vector<float>& pixels = hiding.numbers()["pixel_values"];
  std::vector<double> mean(3, 0);
  for (size_t i = 0; i < pixels.size(); ++i) mean[i / 1024] += double{pixels[i]} / 1024;
  for (size_t i = 0; i < pixels.size(); ++i) {
    if (i / 32 % 32 / 8 == 2 && i % 32 / 8 == 1) pixels[i] = static_cast<float>(mean[i / 1024]);
  }
  const Explanation found = one.run("leave-one-out", {Choice{"how", std::string("mean")}});
  const std::vector<double> scores = stream_of(found, 0);
  EXPECT_NEAR(scores[2 * 4 + 1], one.trace.value - hiding.value(), 1e-5);
}

TEST(ArrayHiding, ShapleyValuesShareOutWhatAllTokensAreWorth) {
  const Case two(kTwoStreams);
  Hiding hiding(two);
  std::fill(hiding.numbers()["input_ids"].begin(), hiding.numbers()["input_ids"].end(), 1.0f);
  std::fill(hiding.numbers()["visual_feats"].begin(), hiding.numbers()["visual_feats"].end(), 0.0f);
  const double difference = two.trace.value - hiding.value();
  for (const std::string method : {"shap", "permutation-shap", "partition-shap", "kernel-shap"}) {
    SCOPED_TRACE(method);
    EXPECT_NEAR(total(two.run(method).attributions[0].scores), difference, 1e-4);
  }
  EXPECT_EQ(two.run("lime").attributions[0].scores.size(), 15u);
}

TEST(ArrayHiding, NeedsAnIdForTokens) {
  const Case one(kEncoderDecoder);
  ExplainRequest request;
  request.methods = {{"leave-one-out", {}}};
  EXPECT_THROW(explain(Model::load(one.model, {.arrays = true}),
                       read_array_views(one.inputs.path()), request),
               InvalidInput);
}

TEST(ArrayMethods, OneThatRefusesLeavesTheOthers) {
  const Case one(kEncoderDecoder);
  const Explanation found =
      explained(one.model, one.inputs.path(), {{"alti", {}}, {"attention-flow", {}}, {"gae", {}}});
  ASSERT_EQ(found.attributions.size(), 1u);
  EXPECT_EQ(found.attributions[0].method, "gae");
  ASSERT_EQ(found.refused.size(), 2u);
  EXPECT_EQ(found.refused[1].method, "attention-flow");
  EXPECT_NE(found.refused[1].reason.find("2 token streams"), std::string::npos);
  EXPECT_THROW(explained(one.model, one.inputs.path(), {{"alti", {}}, {"attention-flow", {}}}),
               InvalidInput);
}

TEST(ArrayMethods, OfWindowsExplainPositionsOfTheInput) {
  const auto model = golden("swin.eager.new.18");
  const InputFile inputs(model);
  const Explanation found =
      explained(model, inputs.path(), {{"rollout", {}}, {"gradient-x-input", {}}});
  ASSERT_EQ(found.refused.size(), 1u);
  EXPECT_NE(found.refused[0].reason.find("windows"), std::string::npos);
  const TracedArrays trace = trace_arrays(model, inputs.path(), {});
  const std::vector<float> gradient = tensor(trace, "input_gradient.pixel_values");
  const std::vector<float> pixels =
      to_float32(read_safetensors(map_file(inputs.path()), "inputs").at("pixel_values"));
  double sum = 0;
  for (size_t i = 0; i < pixels.size(); ++i) sum += double{pixels[i]} * gradient[i];
  EXPECT_NEAR(total(found.attributions[0].scores), sum, 1e-4 * std::abs(sum));
}

// Where the ids also choose the token that is read, the tokens' vectors still pass the first layer.
TEST(ArrayMethods, FindWhatEntersTheFirstLayerPastIdsThatChooseARow) {
  const Case one("gpt2.eager.legacy.17");
  const Explanation found = in_double(
      one, "lrp", {Choice{"policy", std::string("chefer")}, Choice{"own", std::string("keep")}});
  EXPECT_NEAR(total(found.attributions[0].scores), 1, 1e-5);
}

// XLNet turns the ids round before it looks them up.
TEST(ArrayHiding, WorksWhereIdsAreTurnedRound) {
  const Case one("xlnet.eager.legacy.17");
  const std::vector<double> slopes = one.run("saliency").attributions[0].scores;
  for (const double slope : slopes) EXPECT_GT(slope, 0);
  const std::vector<double> scores = one.run("leave-one-out").attributions[0].scores;
  Hiding hiding(one);
  hiding.numbers()["input_ids"][3] = 1;
  EXPECT_NEAR(scores[3], one.trace.value - hiding.value(), 1e-5);
}

TEST(ArrayModelTest, RefusesAnElementThatPairsInputsOfABatch) {
  const Case one("clip.eager.new.18");
  std::map<std::string, std::vector<float>> doubled;
  ArrayViews views;
  for (const auto& [name, stored] : read_safetensors(map_file(one.inputs.path()), "inputs")) {
    std::vector<float>& numbers = doubled[name] = to_float32(stored);
    const std::vector<float> once = numbers;
    numbers.insert(numbers.end(), once.begin(), once.end());
    std::vector<int64_t> shape = stored.shape;
    shape[0] = 2;
    views[name] = {"F32", shape,
                   std::shared_ptr<const void>(std::shared_ptr<void>(), numbers.data()),
                   numbers.size() * 4};
  }
  ExplainRequest request;
  request.methods = {{"saliency", {}}};
  request.target = OutputElement{.indices = {0, 1}};
  EXPECT_THROW(explain(Model::load(one.model, {.arrays = true}), views, request), InvalidInput);
}

TEST(ArrayModelTest, TakesArraysFromMemoryAndRefusesWrongOnes) {
  const Case one(kEncoderDecoder);
  const Model model = Model::load(one.model, {.arrays = true});
  ArrayViews views = read_array_views(one.inputs.path());
  std::vector<int32_t> ids;
  for (const float id :
       to_float32(read_safetensors(map_file(one.inputs.path()), "inputs").at("input_ids"))) {
    ids.push_back(static_cast<int32_t>(id));
  }
  const auto memory = std::shared_ptr<const void>(std::shared_ptr<void>(), ids.data());
  views["input_ids"] = {"I32", {1, 8}, memory, ids.size() * sizeof(int32_t)};
  EXPECT_EQ(traced(model, views, {}).value, one.trace.value);
  EXPECT_EQ(traced(model, views, {}).value, one.trace.value);
  views["input_ids"].bytes -= 4;
  EXPECT_THROW(model.run(views), InvalidInput);
  views["input_ids"] = {"I33", {1, 8}, memory, 32};
  EXPECT_THROW(model.run(views), UnsupportedModel);
  views["input_ids"] = {"I32", {1, int64_t{1} << 62}, memory, 32};
  EXPECT_THROW(model.run(views), InvalidInput);
}

TEST(ArrayModelTest, AnswersArraysOfOtherLengthsAfterTheFirst) {
  const Case one(kEncoderDecoder);
  const Model model = Model::load(one.model, {.arrays = true});
  ArrayViews views = read_array_views(one.inputs.path());
  const double whole = traced(model, views, {}).value;
  ArrayViews shorter = views;
  shorter["input_ids"].shape[1] = 5;
  shorter["input_ids"].bytes = 5 * sizeof(float);
  EXPECT_NE(traced(model, shorter, {}).value, whole);
  EXPECT_EQ(traced(model, shorter, {}).value,
            traced(Model::load(one.model, {.arrays = true}), shorter, {}).value);
  EXPECT_EQ(traced(model, views, {}).value, whole);
}

TEST(ArrayModelTest, NamesTheInputOfAnIdThatIsNoRowOfItsTable) {
  const Case one(kEncoderDecoder);
  ArrayViews views = read_array_views(one.inputs.path());
  const std::vector<float> wrong{1, 2, 3, 4, 5, 6, 7, 8, 999, 1};
  views["decoder_input_ids"] = {
      "F32", {1, 10}, std::shared_ptr<const void>(std::shared_ptr<void>(), wrong.data()), 40};
  try {
    Model::load(one.model, {.arrays = true}).run(views);
    FAIL() << "an id of 999 was taken";
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("'decoder_input_ids'"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("999"), std::string::npos);
  }
}

}  // namespace
}  // namespace whyformer
