#include "studies/debate/attention_tail.h"

#include <gtest/gtest.h>

#include "tests/support/debate_test_helpers.h"

namespace whyformer {
namespace {

std::vector<double> repeated_maps(const std::vector<double>& map, int64_t count) {
  std::vector<double> maps;
  for (int64_t i = 0; i < count; ++i) maps.insert(maps.end(), map.begin(), map.end());
  return maps;
}

TEST(AttentionTail, UnchangedMapsReproduceTheAnswerBitForBit) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const char* input : {"single", "pair"}) {
      const DebateCase test(input, dtype);
      for (int layer = 0; layer < test.explained->layers(); ++layer) {
        const AttentionTail tail(*test.explained, layer);
        for (const int64_t count : {1, 2, 7}) {
          for (const auto& outputs : tail.outputs(repeated_maps(tail.observed(), count)))
            EXPECT_EQ(outputs, test.explained->outputs()) << input << " layer " << layer;
        }
      }
    }
  }
}

TEST(AttentionTail, OfTheLastLayerOnlyTheReadOutRowIsRun) {
  const DebateCase test("single");
  const AttentionTail last(*test.explained, 1), first(*test.explained, 0);
  EXPECT_EQ(last.rows(), 1);
  EXPECT_EQ(last.first_row(), 0);
  EXPECT_EQ(first.rows(), 7);
}

TEST(AttentionTail, GivesWhatARunWithThatMapGives) {
  const DebateCase test("pair");
  const ModelGraph& model = test.explained->graph();
  for (int layer = 0; layer < 2; ++layer) {
    const AttentionTail tail(*test.explained, layer);
    std::vector<double> map = tail.observed();
    std::reverse(map.begin(), map.begin() + tail.keys());
    const Value site = model.found.sites[layer].attention;
    Tensor whole = test.explained->pass()[site].copy();
    std::reverse(whole.mutable_data<double>(), whole.mutable_data<double>() + tail.keys());
    const Pass moved = rerun(model.graph, test.explained->pass(), {{site, whole}});
    EXPECT_EQ(tail.outputs(map)[0], moved[model.output].to_doubles());
  }
}

TEST(AttentionTail, OfSeveralLayersGivesWhatARunWithTheseMapsGives) {
  const DebateCase test("pair");
  const ModelGraph& model = test.explained->graph();
  const AttentionTail tail(*test.explained, {0, 1});
  std::vector<double> maps = tail.observed();
  Feeds whole;
  for (const TailLayer& one : tail.layers()) {
    std::reverse(maps.begin() + one.first, maps.begin() + one.first + one.keys);
    const Value site = model.found.sites[one.layer].attention;
    whole[site] = test.explained->pass()[site].copy();
    std::reverse(whole[site].mutable_data<double>(), whole[site].mutable_data<double>() + one.keys);
  }
  const Pass moved = rerun(model.graph, test.explained->pass(), whole);
  EXPECT_EQ(tail.outputs(maps)[0], moved[model.output].to_doubles());
  EXPECT_NE(tail.outputs(maps)[0], test.explained->outputs());
}

TEST(AttentionTail, GradientsAreFiniteDifferences) {
  const DebateCase test("single");
  for (const std::vector<int>& layers : {std::vector{0}, std::vector{1}, std::vector{0, 1}}) {
    const AttentionTail tail(*test.explained, layers);
    const auto take_second = [](int64_t, const std::vector<double>& outputs) {
      std::vector<double> slopes(outputs.size(), 0.0);
      slopes[1] = 1;
      return slopes;
    };
    const auto slopes = tail.slopes(repeated_maps(tail.observed(), 2), take_second);
    const auto size = static_cast<size_t>(tail.map_size());
    for (size_t i = 0; i < size; i += 3) {
      std::vector<double> up = tail.observed(), down = up;
      up[i] += 1e-6;
      down[i] -= 1e-6;
      const double slope = (tail.outputs(up)[0][1] - tail.outputs(down)[0][1]) / 2e-6;
      EXPECT_NEAR(slopes.gradients[i], slope, 1e-7);
      EXPECT_EQ(slopes.gradients[size + i], slopes.gradients[i]);
    }
  }
}

}  // namespace
}  // namespace whyformer
