// Head measures on pictures: small random models of tests/golden/pictures, pictures of generated
// pixels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/pass.h"
#include "readers/reader.h"
#include "tests/support/golden_weights.h"
#include "tests/support/source_folder.h"
#include "whyformer/heads.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

Model golden_picture_model(const std::string& name) {
  return Model::load(source_folder() / "tests/golden/pictures" / name);
}

LabelledInput picture_of(int seed, std::optional<std::vector<std::string>> labels) {
  const std::shared_ptr<uint8_t[]> pixels(new uint8_t[32 * 32 * 3]);
  for (int i = 0; i < 32 * 32 * 3; ++i)
    pixels[i] = static_cast<uint8_t>(i * i / (7 + seed) + 31 * seed * i);
  return {PictureInput(PicturePixels{"generated", 32, 32, 3, pixels}), std::move(labels),
          "picture " + std::to_string(seed)};
}

HeadGrid head_scores(const Model& model, const std::string& measure,
                     const std::vector<LabelledInput>& corpus, bool all_tokens = false) {
  HeadsRequest request{.measures = {measure},
                       .michel_scale = LayerScale::kNone,
                       .all_tokens = all_tokens,
                       .precision = Precision::kDouble};
  return head_importance(model, corpus, request).measures[0].values;
}

// One run of a picture, whose maps can be changed.
class RunOfPicture {
 public:
  RunOfPicture(const Model& model, const LabelledInput& example) {
    const Reader& reader = model.reader_of(example.input);
    std::vector<std::string> notes;
    const std::vector<Sample> pixels{reader.sample(example.input, DType::kFloat64, notes)};
    const FedGraph fed = reader.source().fed(pixels, {.dtype = DType::kFloat64});
    graph_ = fed.graph;
    pass_ = run(graph_->graph, fed.feeds, {.keep = Keep::kEverything, .outputs = {graph_->output}});
  }
  // Cross-entropy of a label when a head's map, and so its output, is multiplied by a factor.
  double loss(int layer, int head, double factor, int64_t label) const {
    const Value site = graph_->found.sites[layer].attention;
    Tensor map = pass_[site].copy();
    const int64_t size = map.dim(2) * map.dim(3);
    for (int64_t i = 0; i < size; ++i) map.mutable_data<double>()[head * size + i] *= factor;
    const std::vector<double> outputs =
        rerun(graph_->graph, pass_, {{site, map}})[graph_->output].to_doubles();
    double sum = 0;
    for (const double value : outputs) sum += std::exp(value);
    return std::log(sum) - outputs[label];
  }
  double slope(int layer, int head, int64_t label) const {
    return (loss(layer, head, 1 + 1e-5, label) - loss(layer, head, 1 - 1e-5, label)) / 2e-5;
  }
  Tensor map(int layer) const { return pass_[graph_->found.sites[layer].attention]; }

 private:
  std::shared_ptr<const ModelGraph> graph_;
  Pass pass_;
};

TEST(PictureHeads, MichelIsTheFiniteDifferenceOfTheLossInAMaskOnTheHead) {
  for (const char* name : {"vit", "deit", "dinov2", "beit"}) {
    SCOPED_TRACE(name);
    const Model model = golden_picture_model(name);
    const LabelledInput first = picture_of(1, {{"1"}}), second = picture_of(2, {{"0"}});
    const RunOfPicture one(model, first), other(model, second);
    const HeadGrid scores = head_scores(model, "michel", {first, second});
    ASSERT_EQ(scores.size(), 2u);
    for (int layer = 0; layer < 2; ++layer) {
      for (int head = 0; head < static_cast<int>(scores[layer].size()); ++head) {
        const double expected =
            (std::abs(one.slope(layer, head, 1)) + std::abs(other.slope(layer, head, 0))) / 2;
        EXPECT_NEAR(scores[layer][head], expected, 1e-8) << layer << ' ' << head;
        EXPECT_GT(expected, 1e-7);
      }
    }
  }
}

TEST(PictureHeads, ConfidenceIsTheMeanOfThePatchesLargestWeights) {
  const Model model = golden_picture_model("vit");
  const LabelledInput picture = picture_of(3, {});
  const RunOfPicture own(model, picture);
  for (const bool all : {false, true}) {
    const HeadGrid scores = head_scores(model, "confidence", {picture}, all);
    for (int layer = 0; layer < 2; ++layer) {
      const Tensor map = own.map(layer);
      const int64_t heads = map.dim(1), tokens = map.dim(2),
                    first = all ? 0 : 1;  // token 0 is the class token
      const std::vector<double> weights = map.to_doubles();
      for (int64_t head = 0; head < heads; ++head) {
        double sum = 0;
        for (int64_t query = first; query < tokens; ++query) {
          double most = 0;
          for (int64_t key = first; key < tokens; ++key)
            most = std::max(most, weights[(head * tokens + query) * tokens + key]);
          sum += most;
        }
        EXPECT_NEAR(scores[layer][head], sum / static_cast<double>(tokens - first), 1e-12);
      }
    }
  }
}

TEST(PictureHeads, EveryMeasureFitsAVisionTransformerAndPruningCounts) {
  const Model model = golden_picture_model("vit");
  std::vector<LabelledInput> corpus;
  for (int seed = 0; seed < 5; ++seed) corpus.push_back(picture_of(seed, {}));
  HeadsRequest request{
      .measures = {"michel", "michel-positions", "confidence", "entropy", "voita-lrp"}};
  request.prune = PruneRequest{.step = 0.25};
  const HeadImportance found = head_importance(model, corpus, request);
  EXPECT_EQ(found.kind, "pictures");
  EXPECT_EQ(found.examples, 5);
  EXPECT_EQ(found.tokens, 5 * 17);
  EXPECT_THAT(
      found.notes,
      testing::Contains("None of the pictures has a label: the model's own predictions stand in."));
  for (const HeadScores& scores : found.measures) {
    ASSERT_EQ(scores.values.size(), 2u) << scores.measure;
    for (const auto& layer : scores.values) {
      for (const double score : layer) EXPECT_TRUE(std::isfinite(score)) << scores.measure;
    }
  }
  ASSERT_TRUE(found.pruning);
  EXPECT_EQ(found.pruning->examples, 5);
  EXPECT_EQ(found.pruning->steps[0].accuracy, 1);  // nothing is gone, and its own answers are right
}

TEST(PictureHeads, ShareOfRelevanceAddsUpToOneInEveryLayer) {
  const HeadGrid scores =
      head_scores(golden_picture_model("vit"), "voita-lrp", {picture_of(1, {{"0"}})});
  for (const auto& layer : scores) {
    double sum = 0;
    for (const double share : layer) sum += share;
    EXPECT_NEAR(sum, 1, 1e-9);
  }
}

TEST(PictureHeads, ModelsThatAttendWithinWindowsAndWrongLabelsAreRefused) {
  EXPECT_THAT(message_of<InvalidInput>(
                  [] { head_scores(golden_picture_model("swin"), "michel", {picture_of(1, {})}); }),
              HasSubstr("attends within windows"));
  EXPECT_THAT(message_of<InvalidInput>([] {
                head_scores(golden_picture_model("vit"), "michel", {picture_of(1, {{"moon"}})});
              }),
              HasSubstr("picture 1: "));
  EXPECT_THAT(message_of<InvalidInput>([] {
                head_importance(golden_picture_model("vit"), std::vector<LabelledInput>(), {});
              }),
              HasSubstr("no inputs"));
}

}  // namespace
}  // namespace whyformer
