#include "report/views/pooled_queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sample_pictures.h"
#include "tests/support/unpacked_weight.h"

namespace whyformer::report {
namespace {

TEST(PooledQueries, KeepEveryRowWhereAllFit) {
  const Explanation explanation = picture_sample({.width = 64, .height = 64});
  const PooledAttention pooled = pool_queries(explanation, 1'000'000);
  EXPECT_EQ(pooled.block, 1);
  EXPECT_EQ(pooled.packed.note, "");
  const PackedMap& map = pooled.packed.maps[1];
  EXPECT_EQ(map.queries, 17);
  const std::span<const float> head = explanation.attention[1].head(2);
  for (size_t i = 0; i < head.size(); ++i) {
    EXPECT_NEAR(unpacked_weight(map, 2 * head.size() + i), head[i], 1e-4);
  }
}

// 5 x 3 patches and a class token: blocks at the right and the bottom stand for fewer patches.
TEST(PooledQueries, RowsOfABlockAreTheMeanOfItsPatches) {
  const Explanation explanation =
      picture_sample({.width = 24, .height = 40, .patch = 8, .layers = 1, .heads = 2});
  const PooledAttention pooled = pool_queries(explanation, 2 * 16 * 8);
  ASSERT_EQ(pooled.block, 2);
  EXPECT_EQ(pooled.block_rows, 3);
  EXPECT_EQ(pooled.block_columns, 2);
  const PackedMap& map = pooled.packed.maps[0];
  ASSERT_EQ(map.queries, 1 + 6);
  ASSERT_EQ(map.heads, 2);
  for (int64_t head = 0; head < 2; ++head) {
    const std::span<const float> weights = explanation.attention[0].head(head);
    const auto unpacked = [&](int64_t query, int64_t key) {
      return unpacked_weight(map, static_cast<size_t>((head * 7 + query) * 16 + key));
    };
    for (int64_t key = 0; key < 16; ++key) {
      EXPECT_NEAR(unpacked(0, key), weights[static_cast<size_t>(key)], 4e-3);
      for (int64_t block = 0; block < 6; ++block) {
        double sum = 0;
        int count = 0;
        for (int64_t row = block / 2 * 2; row < std::min<int64_t>(5, block / 2 * 2 + 2); ++row) {
          for (int64_t column = block % 2 * 2; column < std::min<int64_t>(3, block % 2 * 2 + 2);
               ++column, ++count) {
            sum += weights[static_cast<size_t>((1 + row * 3 + column) * 16 + key)];
          }
        }
        EXPECT_NEAR(unpacked(1 + block, key), sum / count, 4e-3) << block << " to " << key;
      }
    }
  }
}

TEST(PooledQueries, TwelveLayersOfTwelveHeadsKeepAllHeads) {
  const Explanation explanation = picture_sample({.layers = 12, .heads = 12});
  const PooledAttention pooled = pool_queries(explanation, 1'450'000);
  EXPECT_EQ(pooled.block, 2);
  EXPECT_FALSE(pooled.packed.averaged);
  ASSERT_EQ(pooled.packed.maps.size(), 12);
  EXPECT_EQ(pooled.packed.maps[11].heads, 12);
  EXPECT_EQ(pooled.packed.maps[11].queries, 50);
  EXPECT_THAT(pooled.packed.note, testing::HasSubstr("2 × 2 neighbouring patches"));
}

TEST(PooledQueries, LayersOfWindowsAreLeftOutAndTheOthersKeepTheirNumber) {
  const PooledAttention pooled = pool_queries(window_picture_sample(), 10'000'000);
  ASSERT_EQ(pooled.packed.maps.size(), 2);
  EXPECT_EQ(pooled.packed.maps[0].layer, 0);
  EXPECT_EQ(pooled.packed.maps[1].layer, 2);
  EXPECT_EQ(pooled.packed.note, "1 of 3 layers attend within windows and are left out.");
}

}  // namespace
}  // namespace whyformer::report
