#include "tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::ElementsAre;

Tensor counting(Shape shape) {
  std::vector<float> values(element_count(shape));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::of<float>(shape, values);
}

TEST(Tensor, TransposeAndSliceShareMemoryAndReadTheRightElements) {
  const Tensor matrix = counting({2, 3});
  const Tensor view = matrix.transpose(0, 1).slice(0, 1, 2);
  EXPECT_EQ(view.storage(), matrix.storage());
  EXPECT_THAT(view.to_doubles(), ElementsAre(1, 4, 2, 5));
}

TEST(Tensor, SplittingAndMergingHeadsAreViews) {
  const Tensor tokens = counting({2, 3, 4});
  const Tensor heads = tokens.reshape({2, 3, 2, 2}).permute({0, 2, 1, 3});
  EXPECT_EQ(heads.storage(), tokens.storage());
  EXPECT_THAT(heads.select(0, 0).select(0, 1).to_doubles(), ElementsAre(2, 3, 6, 7, 10, 11));
  const Tensor merged = heads.permute({0, 2, 1, 3}).reshape({2, 3, 4});
  EXPECT_EQ(merged.storage(), tokens.storage());
  EXPECT_EQ(merged.to_doubles(), tokens.to_doubles());
}

TEST(Tensor, ReshapeCopiesOnlyWhenStridesForbidAView) {
  const Tensor transposed = counting({2, 3}).transpose(0, 1);
  const Tensor flat = transposed.reshape({6});
  EXPECT_NE(flat.storage(), transposed.storage());
  EXPECT_THAT(flat.to_doubles(), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Tensor, ReshapeToAnotherSizeNamesBothShapes) {
  try {
    counting({2, 3}).reshape({4});
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("[2, 3] to [4]"));
  }
}

TEST(Tensor, ATransposedMatrixIsCopiedElementByElement) {
  const int64_t rows = 67, columns = 130;  // neither is a multiple of a block
  Tensor matrix = Tensor::empty({rows, columns}, DType::kFloat32);
  for (int64_t i = 0; i < matrix.size(); ++i)
    matrix.mutable_data<float>()[i] = static_cast<float>(i);
  const Tensor turned = matrix.transpose(0, 1).contiguous();
  const Tensor wide = matrix.slice(1, 1, 40).transpose(0, 1).cast(DType::kFloat64);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const float expected = static_cast<float>(row * columns + column);
      ASSERT_EQ(turned.data<float>()[column * rows + row], expected);
      if (column >= 1 && column < 41) {
        ASSERT_EQ(wide.data<double>()[(column - 1) * rows + row], expected);
      }
    }
  }
}

TEST(Tensor, EmptyInOrderMakesThePermutationContiguous) {
  const Tensor heads = Tensor::empty_in_order({2, 3, 5, 4}, {0, 2, 1, 3}, DType::kFloat32);
  EXPECT_EQ(heads.shape(), (Shape{2, 3, 5, 4}));
  EXPECT_TRUE(heads.permute({0, 2, 1, 3}).is_contiguous());
  EXPECT_TRUE(Tensor::empty_like(heads).permute({0, 2, 1, 3}).is_contiguous());
}

TEST(Tensor, ExpandRepeatsWithoutCopying) {
  const Tensor row = counting({1, 3});
  const Tensor rows = row.expand({2, 2, 3});
  EXPECT_EQ(rows.storage(), row.storage());
  EXPECT_THAT(rows.to_doubles(), ElementsAre(0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2));
}

TEST(Tensor, CopyFromWritesThroughAView) {
  Tensor matrix = Tensor::zeros({2, 3});
  matrix.slice(1, 1, 1).copy_from(Tensor::of<float>({2, 1}, {7.f, 8.f}));
  EXPECT_THAT(matrix.to_doubles(), ElementsAre(0, 7, 0, 0, 8, 0));
}

}  // namespace
}  // namespace whyformer
