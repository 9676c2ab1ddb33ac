// Against the definition: every window by itself, in two dimensions.
#include "evaluate/structural_similarity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

std::vector<double> random_map(MapSize size, int64_t number) {
  const CounterRandom random(5, "map", number);
  std::vector<double> map;
  for (int64_t i = 0; i < size.rows * size.columns; ++i) map.push_back(random.normal(i));
  return map;
}

double by_definition(std::vector<double> a, std::vector<double> b, MapSize size, int64_t side) {
  for (std::vector<double>* map : {&a, &b}) {
    const double least = *std::ranges::min_element(*map), most = *std::ranges::max_element(*map);
    for (double& x : *map) x = (x - least) / (most - least);
  }
  double total = 0, windows = 0;
  for (int64_t top = 0; top + side <= size.rows; ++top) {
    for (int64_t left = 0; left + side <= size.columns; ++left) {
      double weights = 0, ma = 0, mb = 0;
      const auto each = [&](const auto& use) {
        for (int64_t y = 0; y < side; ++y) {
          for (int64_t x = 0; x < side; ++x) {
            const double dy = static_cast<double>(y - side / 2);
            const double dx = static_cast<double>(x - side / 2);
            const int64_t at = (top + y) * size.columns + left + x;
            use(std::exp(-(dx * dx + dy * dy) / (2 * 1.5 * 1.5)), a[at], b[at]);
          }
        }
      };
      each([&](double w, double p, double q) {
        weights += w;
        ma += w * p;
        mb += w * q;
      });
      ma /= weights;
      mb /= weights;
      double va = 0, vb = 0, cov = 0;
      each([&](double w, double p, double q) {
        va += w * (p - ma) * (p - ma) / weights;
        vb += w * (q - mb) * (q - mb) / weights;
        cov += w * (p - ma) * (q - mb) / weights;
      });
      total +=
          (2 * ma * mb + 1e-4) * (2 * cov + 9e-4) / ((ma * ma + mb * mb + 1e-4) * (va + vb + 9e-4));
      windows += 1;
    }
  }
  return total / windows;
}

TEST(StructuralSimilarity, IsItsDefinition) {
  for (const MapSize size : {MapSize{14, 14}, MapSize{11, 20}, MapSize{7, 8}, MapSize{3, 4}}) {
    const std::vector<double> a = random_map(size, 1), b = random_map(size, 2);
    const int64_t side = std::min<int64_t>(11, size.rows);
    EXPECT_EQ(structure_window(size), side);
    EXPECT_NEAR(*structural_similarity(a, b, size), by_definition(a, b, size, side), 1e-12);
  }
}

TEST(StructuralSimilarity, IsOneForAMapAndItselfAtAnyScale) {
  const MapSize size{12, 13};
  const std::vector<double> a = random_map(size, 3);
  std::vector<double> scaled;
  for (const double x : a) scaled.push_back(7 * x - 3);
  EXPECT_DOUBLE_EQ(*structural_similarity(a, a, size), 1);
  EXPECT_NEAR(*structural_similarity(a, scaled, size), 1, 1e-12);
}

TEST(StructuralSimilarity, OfAMapAndItsNegativeIsNegative) {
  const MapSize size{12, 13};
  const std::vector<double> a = random_map(size, 4);
  std::vector<double> negative;
  for (const double x : a) negative.push_back(-x);
  EXPECT_LT(*structural_similarity(a, negative, size), -0.3);
}

TEST(StructuralSimilarity, IsUndefinedForConstantTinyOrInfiniteMaps) {
  const MapSize size{5, 5};
  const std::vector<double> a = random_map(size, 5), same(25, 0.5);
  std::vector<double> infinite = a;
  infinite[3] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(structural_similarity(a, same, size));
  EXPECT_FALSE(structural_similarity(a, infinite, size));
  EXPECT_FALSE(
      structural_similarity(std::vector{1., 2., 3., 4.}, std::vector{1., 2., 3., 5.}, {2, 2}));
  EXPECT_THROW(structural_similarity(a, a, {5, 6}), InvalidInput);
}

TEST(StructuralSimilarity, TakesTheLargestOddWindowThatFits) {
  EXPECT_EQ(structure_window({14, 14}), 11);
  EXPECT_EQ(structure_window({11, 30}), 11);
  EXPECT_EQ(structure_window({10, 30}), 9);
  EXPECT_EQ(structure_window({8, 7}), 7);
  EXPECT_EQ(structure_window({2, 9}), 0);
}

}  // namespace
}  // namespace whyformer
