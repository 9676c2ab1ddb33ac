// What tokens are said to stand for: maps given as inputs, patches cut out by views, sound behind a
// norm over groups, grey pictures, and attention that samples points.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/saved_models.h"
#include "tests/support/tiny_model.h"
#include "whyformer/answers.h"
#include "whyformer/error.h"
#include "whyformer/model.h"

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
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<float> waves(size_t count) {
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i) + 0.3));
  return numbers;
}

void add_reshape(TinyModel& model, const std::string& from, const std::string& to,
                 const std::vector<int64_t>& shape) {
  add_integers(model.graph(), to + "_shape", {static_cast<int64_t>(shape.size())}, shape);
  add_node(model.graph(), "Reshape", {from, to + "_shape"}, {to});
}

void add_transpose(TinyModel& model, const std::string& from, const std::string& to,
                   const std::vector<int64_t>& order) {
  set_integers(add_node(model.graph(), "Transpose", {from}, {to}), "perm", order);
}

// One head without projections: `queries` attend to `tokens`, both [1, tokens, width].
void add_attention(TinyModel& model, const std::string& queries, const std::string& tokens,
                   const std::string& out) {
  auto& graph = model.graph();
  add_integers(graph, out + "_axis", {1}, {1});
  add_node(graph, "Unsqueeze", {queries, out + "_axis"}, {out + "_q"});
  add_node(graph, "Unsqueeze", {tokens, out + "_axis"}, {out + "_k"});
  add_transpose(model, out + "_k", out + "_keys", {0, 1, 3, 2});
  add_node(graph, "MatMul", {out + "_q", out + "_keys"}, {out + "_scores"});
  set_integer(add_node(graph, "Softmax", {out + "_scores"}, {out + "_map"}), "axis", -1);
  add_node(graph, "MatMul", {out + "_map", out + "_k"}, {out + "_context"});
  add_node(graph, "Squeeze", {out + "_context", out + "_axis"}, {out});
}

// The mean over the tokens.
void add_read_out(TinyModel& model, const std::string& tokens) {
  auto& mean = add_node(model.graph(), "ReduceMean", {tokens}, {"logits"});
  set_integers(mean, "axes", {1});
  set_integer(mean, "keepdims", 0);
  model.output("logits");
}

std::vector<std::string> streams_of(const TinyModel& model) {
  const SavedFolder saved(model);
  std::vector<std::string> units;
  for (const StreamInfo& stream : inspect(saved.file()).streams) units.push_back(stream.units);
  return units;
}

// Learned tokens look at an image embedding, positions added to it, as the mask decoder of SAM
// does.
TinyModel learned_queries_on_a_map() {
  TinyModel model;
  model.input("image_embed", {1, 4, 3, 5});
  add_reshape(model, "image_embed", "flat", {1, 4, 15});
  add_transpose(model, "flat", "rows", {0, 2, 1});
  add_floats(model.graph(), "places", {1, 15, 4}, waves(60));
  add_node(model.graph(), "Add", {"rows", "places"}, {"tokens"});
  add_floats(model.graph(), "learned", {1, 2, 4}, waves(8));
  add_attention(model, "learned", "tokens", "looked");
  add_read_out(model, "looked");
  return model;
}

TEST(Origins, AMapGivenAsAnInputIsItsPositionsAndQueriesStayLearned) {
  EXPECT_THAT(streams_of(learned_queries_on_a_map()),
              ElementsAre("2 learned", "3 × 5 patches of image_embed"));
}

// Each position of the map can be hidden: what leave-one-out says is what the file answers without
// it.
TEST(Origins, PositionsOfAGivenMapGetScores) {
  const SavedFolder saved(learned_queries_on_a_map());
  const Model model = Model::load(saved.file(), {.arrays = true});
  std::vector<float> map = waves(60);
  const auto view = [&] {
    return ArrayViews{
        {"image_embed",
         {"F32", {1, 4, 3, 5}, {map.data(), [](const void*) {}}, map.size() * sizeof(float)}}};
  };
  ExplainRequest request;
  request.target = OutputElement{"logits", {0, 2}};
  request.methods = {{"leave-one-out", {}}};
  const Explanation explained = explain(model, view(), request)[0];
  const std::vector<double> scores = explained.attributions.at(0).scores;
  const double whole = model.run(view()).at("logits").values[2];
  for (int64_t position = 0; position < 15; ++position) {
    const std::vector<float> before = map;
    for (int64_t channel = 0; channel < 4; ++channel) map[channel * 15 + position] = 0;
    EXPECT_NEAR(scores[explained.streams[1].first + position],
                whole - model.run(view()).at("logits").values[2], 1e-5);
    map = before;
  }
}

// "b c (h p1) (w p2) -> b (h w) (p1 p2 c)", as einops writes it.
TinyModel patches_by_views(int64_t channels) {
  TinyModel model;
  model.input("pixel_values", {1, channels, 8, 12});
  add_reshape(model, "pixel_values", "cut", {1, channels, 2, 4, 3, 4});
  add_transpose(model, "cut", "moved", {0, 2, 4, 3, 5, 1});
  add_reshape(model, "moved", "patches", {1, 6, 16 * channels});
  add_floats(model.graph(), "projection", {16 * channels, 4}, waves(64 * channels));
  add_node(model.graph(), "MatMul", {"patches", "projection"}, {"projected"});
  add_floats(model.graph(), "places", {1, 6, 4}, waves(24));
  add_node(model.graph(), "Add", {"projected", "places"}, {"tokens"});
  add_attention(model, "tokens", "tokens", "mixed");
  add_node(model.graph(), "Add", {"tokens", "mixed"}, {"block"});
  add_read_out(model, "block");
  return model;
}

TEST(Origins, PatchesCutOutByViewsArePatches) {
  EXPECT_THAT(streams_of(patches_by_views(3)), ElementsAre("2 × 3 patches of pixel_values"));
  const SavedFolder saved(patches_by_views(3));
  const Model model = Model::load(saved.file());
  ExplainRequest request;
  request.methods = {{"gae", {}}, {"rollout", {}}};
  const Explanation explanation = explain(model, coloured_picture(24), request).at(0);
  EXPECT_THAT(explanation.refused, testing::IsEmpty());
  EXPECT_EQ(explanation.units.size(), 6u);
  EXPECT_EQ(explanation.picture->rows, 2);
  EXPECT_EQ(explanation.picture->columns, 3);
}

// Grey as PIL makes it, L = (19595 R + 38470 G + 7471 B + 2¹⁵) / 2¹⁶, then as the file itself
// answers.
TEST(Origins, GreyPicturesGoIntoFilesOfOneChannel) {
  const SavedFolder saved(patches_by_views(1));
  const Model model = Model::load(saved.file());
  PicturePixels picture = coloured_picture(12);
  picture.height = 8;
  std::vector<float> grey;
  for (int64_t i = 0; i < 8 * 12; ++i) {
    const uint8_t* pixel = picture.pixels.get() + 3 * i;
    const int level = (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 32768) / 65536;
    grey.push_back((static_cast<float>(level) / 255 - 0.5f) / 0.5f);
  }
  const ArrayViews arrays{
      {"pixel_values",
       {"F32", {1, 1, 8, 12}, {grey.data(), [](const void*) {}}, grey.size() * sizeof(float)}}};
  EXPECT_THAT(answers(model, {PictureInput(picture)}, {}).inputs.at(0).values,
              testing::Pointwise(
                  testing::DoubleNear(1e-5),
                  Model::load(saved.file(), {.arrays = true}).run(arrays).at("logits").values));
}

TEST(Origins, OtherNumbersOfChannelsAreSentToArraysNotToATokenizer) {
  const SavedFolder saved(patches_by_views(5));
  EXPECT_THAT(refusal<UnsupportedModel>([&] { default_methods(Model::load(saved.file())); }),
              testing::AllOf(HasSubstr("give arrays"), Not(HasSubstr("tokenizer"))));
}

// A convolution over sound, whose channels are normalised in groups over all of time, and another
// one.
TinyModel sound_with_groups(int64_t groups, bool second_convolution) {
  TinyModel model(21);
  model.input("input_values", {1, 40});
  add_reshape(model, "input_values", "sound", {1, 1, 40});
  add_floats(model.graph(), "kernel", {4, 1, 4}, waves(16));
  set_integers(add_node(model.graph(), "Conv", {"sound", "kernel"}, {"heard"}), "strides", {2});
  add_reshape(model, "heard", "grouped", {1, groups, -1});
  add_floats(model.graph(), "ones", {groups}, std::vector<float>(groups, 1));
  add_floats(model.graph(), "zeros", {groups}, std::vector<float>(groups, 0));
  add_node(model.graph(), "InstanceNormalization", {"grouped", "ones", "zeros"}, {"level"});
  add_reshape(model, "level", "normed", {1, 4, 19});
  if (second_convolution) {
    add_floats(model.graph(), "second", {4, 4, 3}, waves(48));
    set_integers(add_node(model.graph(), "Conv", {"normed", "second"}, {"frames"}), "strides", {2});
  } else {
    add_node(model.graph(), "Identity", {"normed"}, {"frames"});
  }
  add_transpose(model, "frames", "rows", {0, 2, 1});
  add_floats(model.graph(), "places", {1, 1, 4}, waves(4));
  add_node(model.graph(), "Add", {"rows", "places"}, {"tokens"});
  add_attention(model, "tokens", "tokens", "mixed");
  add_node(model.graph(), "Add", {"tokens", "mixed"}, {"block"});
  add_read_out(model, "block");
  return model;
}

TEST(Origins, SoundBehindANormOverGroupsHasUnits) {
  for (const int64_t groups : {1, 2, 4}) {
    for (const bool second : {true, false}) {
      const SavedFolder saved(sound_with_groups(groups, second));
      const std::vector<float> sound = waves(40);
      const ArrayViews inputs{
          {"input_values",
           {"F32", {1, 40}, {sound.data(), [](const void*) {}}, sound.size() * sizeof(float)}}};
      ExplainRequest request;
      request.methods = {{"leave-one-out", {}}, {"gae", {}}};
      const Explanation explained =
          explain(Model::load(saved.file(), {.arrays = true}), inputs, request)[0];
      EXPECT_EQ(explained.streams.at(0).units, "frames of input_values");
      EXPECT_EQ(explained.units.size(), second ? 9u : 19u);
      EXPECT_THAT(explained.refused, testing::IsEmpty()) << groups << second;
    }
  }
}

// Learned queries look at each other first, which is the same for every picture, then at the
// picture.
TEST(Origins, AttentionAmongWeightsAloneIsASiteButNoBlock) {
  TinyModel model;
  model.input("pixel_values", {1, 3, 2, 3});
  add_reshape(model, "pixel_values", "flat", {1, 3, 6});
  add_transpose(model, "flat", "tokens", {0, 2, 1});
  add_floats(model.graph(), "learned", {1, 2, 3}, waves(6));
  add_attention(model, "learned", "learned", "own");
  add_attention(model, "own", "tokens", "looked");
  add_read_out(model, "looked");
  const SavedFolder saved(model);
  EXPECT_EQ(Model::load(saved.file()).inspect().sites.size(), 2u);
}

// Each of two learned queries adds what it samples from the picture, at points that are weights
// too.
TEST(Origins, LearnedQueriesThatSampleAPictureStayLearned) {
  TinyModel model;
  model.input("pixel_values", {1, 3, 6, 6});
  add_floats(model.graph(), "learned", {1, 2, 3}, waves(6));
  add_attention(model, "learned", "learned", "own");
  add_floats(model.graph(), "grid", {1, 2, 1, 2}, waves(4));
  add_node(model.graph(), "GridSample", {"pixel_values", "grid"}, {"points"});
  add_reshape(model, "points", "colours", {1, 3, 2});
  add_transpose(model, "colours", "sampled", {0, 2, 1});
  add_node(model.graph(), "Add", {"own", "sampled"}, {"both"});
  add_read_out(model, "both");
  EXPECT_THAT(streams_of(model), ElementsAre("2 learned"));
}

// Weights of four points that each of two learned queries samples from a map.
TinyModel sampling_model() {
  TinyModel model;
  model.input("pixel_values", {1, 3, 6, 6});
  add_floats(model.graph(), "grid", {1, 2, 4, 2}, waves(16));
  add_node(model.graph(), "GridSample", {"pixel_values", "grid"}, {"points"});
  add_floats(model.graph(), "scores", {1, 1, 2, 4}, waves(8));
  add_node(model.graph(), "ReduceMax", {"pixel_values"}, {"largest"});
  add_node(model.graph(), "Mul", {"scores", "largest"}, {"logits_of_points"});
  set_integer(add_node(model.graph(), "Softmax", {"logits_of_points"}, {"weights"}), "axis", -1);
  add_node(model.graph(), "Mul", {"points", "weights"}, {"weighted"});
  set_integers(add_node(model.graph(), "ReduceMean", {"weighted"}, {"sums"}), "axes", {3});
  add_reshape(model, "sums", "logits", {1, 6});
  model.output("logits");
  return model;
}

TEST(Origins, DeformableAttentionIsMentioned) {
  const SavedFolder saved(sampling_model());
  EXPECT_THAT(inspect(saved.file()).notes,
              Contains(HasSubstr("1 deformable attention (first 'Softmax of weights')")));
  EXPECT_THAT(Model::load(saved.file()).inspect().notes,
              Contains(HasSubstr("deformable attention")));
  const SavedFolder plain(patches_by_views(3));
  EXPECT_THAT(inspect(plain.file()).notes, Not(Contains(HasSubstr("deformable"))));
}

}  // namespace
}  // namespace whyformer
