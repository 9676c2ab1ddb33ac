#include "studies/concepts/gram.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/concepts_test_helpers.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Sizes around the strips of columns and the blocks of rows.
TEST(InnerProducts, EqualPlainLoopsInDouble) {
  for (const auto& [rows, width] : {std::pair{5, 3}, {97, 1025}, {110, 5200}}) {
    SCOPED_TRACE(testing::Message() << rows << " × " << width);
    TestRows x = normal_rows(rows, width, "products");
    for (float& number : x.numbers) number += 5;  // a large mean, which must not cost digits
    const TestRows g = normal_rows(7, width, "slopes");
    const InnerProducts products = inner_products(x.view(), g.view());
    std::vector<double> centred(x.numbers.begin(), x.numbers.end());
    for (int64_t j = 0; j < width; ++j) {
      double mean = 0;
      for (int64_t i = 0; i < rows; ++i) mean += centred[i * width + j] / rows;
      for (int64_t i = 0; i < rows; ++i) centred[i * width + j] -= mean;
    }
    // Float sums of up to 1024 squares are around 1000 and exact to about 2⁻²³ of it, strip by
    // strip.
    const double tolerance = width <= 4096 ? 1e-9 : 2 * 0x1p-23 * width;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < rows; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < width; ++k) sum += centred[i * width + k] * centred[j * width + k];
        ASSERT_NEAR(products.gram.at(i, j), sum, tolerance) << i << ", " << j;
      }
      for (int64_t t = 0; t < 7; ++t) {
        double sum = 0;
        for (int64_t k = 0; k < width; ++k) sum += centred[i * width + k] * g.row(t)[k];
        ASSERT_NEAR(products.slopes[t * rows + i], sum, tolerance);
      }
    }
  }
}

TEST(InnerProducts, RefuseGradientsOfAnotherWidth) {
  const TestRows x = normal_rows(4, 5, "x"), g = normal_rows(4, 6, "g");
  EXPECT_THROW(inner_products(x.view(), g.view()), Error);
}

}  // namespace
}  // namespace whyformer
