#include "kernels/gemm_narrow.h"

#include <gtest/gtest.h>

#include "kernels/gemm.h"

namespace whyformer {
namespace {

std::vector<float> whole_numbers_between(int64_t count, int least, int most) {
  std::vector<float> numbers;
  uint32_t state = 12345;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers.push_back(
        static_cast<float>(least + static_cast<int>(state >> 8) % (most - least + 1)));
  }
  return numbers;
}

struct NarrowSizes {
  int64_t rows, depth, columns;
};

// Sums of a PackedMatrix of the same numbers, to the last bit: scaled weights are not whole, so
// that order matters.
void expect_products_of_floats(const NarrowSizes& size, int least, int most,
                               NarrowScales::Along along) {
  const std::vector<float> b = whole_numbers_between(size.depth * size.columns, least, most);
  std::vector<float> a = whole_numbers_between(size.rows * size.depth, -900, 900), factors, bias;
  for (float& number : a) number /= 7;
  const int64_t count = along == NarrowScales::Along::kRows ? size.depth : size.columns;
  for (int64_t i = 0; i < count; ++i) factors.push_back(1.0f / static_cast<float>(i + 3));
  for (int64_t i = 0; i < size.columns; ++i) bias.push_back(0.3f * static_cast<float>(i));
  std::vector<float> scaled = b;
  for (int64_t i = 0; i < size.depth * size.columns && along != NarrowScales::Along::kNone; ++i) {
    scaled[i] *= factors[along == NarrowScales::Along::kRows ? i / size.columns : i % size.columns];
  }
  std::vector<float> expected(size.rows * size.columns), found(size.rows * size.columns);
  multiply_packed(a.data(), size.rows, size.depth,
                  PackedMatrix(scaled.data(), size.depth, size.columns, size.columns, 1),
                  expected.data(), size.columns, {.bias = bias.data()});
  NarrowMatrix(b.data(), size.depth, size.columns, size.columns, 1)
      .multiply(a.data(), size.rows, size.depth, found.data(), size.columns,
                {along, factors.data()}, bias.data());
  EXPECT_EQ(found, expected) << size.rows << " " << size.depth << " " << size.columns;
}

TEST(NarrowMatrix, GivesTheProductsOfTheSameFloats) {
  for (const NarrowSizes& size :
       {NarrowSizes{1, 1, 1}, {3, 5, 70}, {17, 400, 64}, {100, 800, 130}, {2, 300, 3}}) {
    for (const auto along :
         {NarrowScales::Along::kNone, NarrowScales::Along::kRows, NarrowScales::Along::kColumns}) {
      expect_products_of_floats(size, -128, 127, along);
      expect_products_of_floats(size, -255, 255, along);
    }
  }
}

TEST(NarrowMatrix, TakesTransposedNumbers) {
  const std::vector<float> b = whole_numbers_between(6 * 70, -128, 127),
                           a = whole_numbers_between(2 * 6, -9, 9);
  std::vector<float> turned(b.size()), one(2 * 70), other(2 * 70);
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t j = 0; j < 70; ++j) turned[j * 6 + i] = b[i * 70 + j];
  }
  NarrowMatrix(b.data(), 6, 70, 70, 1).multiply(a.data(), 2, 6, one.data(), 70);
  NarrowMatrix(turned.data(), 6, 70, 1, 6).multiply(a.data(), 2, 6, other.data(), 70);
  EXPECT_EQ(one, other);
}

}  // namespace
}  // namespace whyformer
