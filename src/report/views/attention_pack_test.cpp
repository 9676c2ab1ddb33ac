#include "report/views/attention_pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/pages/base64.h"
#include "tests/support/sample_explanations.h"
#include "tests/support/unpacked_weight.h"

namespace whyformer::report {
namespace {

std::vector<AttentionMap> sample_maps() { return sample_explanation().attention; }

size_t total_weights(const std::vector<AttentionMap>& maps) {
  size_t total = 0;
  for (const AttentionMap& map : maps)
    total += static_cast<size_t>(map.heads * map.queries * map.keys);
  return total;
}

// Half a step of code/largest, carried through the square.
double promised_error(const PackedMap& map, double weight) {
  const double largest = std::pow(2, map.bits) - 2;
  return std::sqrt(weight * map.top) / largest + map.top / (largest * largest) + 1e-9;
}

TEST(AttentionPack, SmallMapsKeepFourDigits) {
  const std::vector<AttentionMap> maps = sample_maps();
  const PackedAttention packed = pack_attention(maps, 1 << 20);
  ASSERT_EQ(packed.maps.size(), maps.size());
  EXPECT_EQ(packed.note, "");
  for (size_t layer = 0; layer < maps.size(); ++layer) {
    for (size_t i = 0;
         i < static_cast<size_t>(maps[layer].heads * maps[layer].queries * maps[layer].keys); ++i) {
      EXPECT_NEAR(unpacked_weight(packed.maps[layer], i), maps[layer].values[i], 5e-5);
    }
  }
}

TEST(AttentionPack, EightBitsStayWithinThePromisedError) {
  const std::vector<AttentionMap> maps = sample_maps();
  const PackedAttention packed = pack_attention(maps, total_weights(maps));
  ASSERT_EQ(packed.maps[0].bits, 8);
  EXPECT_FALSE(packed.averaged);
  for (size_t i = 0; i < packed.maps[0].codes.size(); ++i) {
    const double weight = maps[0].values[i];
    EXPECT_NEAR(unpacked_weight(packed.maps[0], i), weight, promised_error(packed.maps[0], weight));
  }
}

TEST(AttentionPack, AveragesHeadsBeyondTheBudgetAndSaysSo) {
  const std::vector<AttentionMap> maps = sample_maps();
  const PackedAttention packed = pack_attention(maps, total_weights(maps) - 1);
  EXPECT_TRUE(packed.averaged);
  EXPECT_EQ(packed.maps[0].heads, 1);
  EXPECT_THAT(packed.note, testing::HasSubstr("A trace of the model has every head"));
  double mean = 0;
  for (int head = 0; head < 4; ++head) mean += maps[0].head(head)[3] / 4;
  EXPECT_NEAR(unpacked_weight(packed.maps[0], 3), mean, 1e-3);
}

TEST(AttentionPack, KeepsTheLastLayersWhereEvenMeansAreTooLarge) {
  const std::vector<AttentionMap> maps = sample_maps();
  const auto one_layer = static_cast<size_t>(maps[0].queries * maps[0].keys);
  const PackedAttention packed = pack_attention(maps, 2 * one_layer);
  ASSERT_EQ(packed.maps.size(), 2);
  EXPECT_EQ(packed.maps[0].layer, 2);
  EXPECT_THAT(packed.note, testing::HasSubstr("only the last 2 of 4 layers"));
}

TEST(AttentionPack, NotANumberSurvives) {
  auto values = std::make_shared<float[]>(2);
  values[0] = NAN;
  values[1] = 0.5;
  const PackedAttention packed = pack_attention({{"layer", 1, 1, 2, values}}, 100);
  EXPECT_TRUE(std::isnan(unpacked_weight(packed.maps[0], 0)));
  EXPECT_NEAR(unpacked_weight(packed.maps[0], 1), 0.5, 1e-9);
}

TEST(Base64, MatchesTheExamplesOfRfc4648) {
  const auto encoded = [](std::string_view text) {
    return base64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_THAT(bytes_of_hex("00fFa1"), testing::ElementsAre(0x00, 0xff, 0xa1));
}

}  // namespace
}  // namespace whyformer::report
