#include "readers/pictures/linear_imputation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;

TEST(LinearImputation, EqualsThatOfQuantus) {
  const Json golden = Json::parse(std::ifstream(source_folder() / "tests/golden/metrics.json"));
  for (const Json& one : golden["imputations"]) {
    std::vector<bool> hidden;
    for (const int pixel : one["hidden"]) hidden.push_back(pixel == 1);
    const auto found = linearly_imputed(one["pixels"].get<std::vector<double>>(),
                                        one["shape"].get<Shape>(), hidden);
    const auto expected = one["filled"].get<std::vector<double>>();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-8) << i;
  }
}

// Away from the edge, the mean of the neighbours of a plane is the plane.
TEST(LinearImputation, APlaneFillsItsOwnHoles) {
  constexpr int64_t kSide = 40;
  std::vector<double> plane;
  std::vector<bool> hidden;
  for (int64_t y = 0; y < kSide; ++y) {
    for (int64_t x = 0; x < kSide; ++x) {
      plane.push_back(0.3 * static_cast<double>(x) - 0.7 * static_cast<double>(y) + 5);
      hidden.push_back(x > 2 && x < 36 && y > 4 && y < 37);
    }
  }
  const auto filled = linearly_imputed(plane, {1, kSide, kSide}, hidden);
  for (size_t i = 0; i < plane.size(); ++i) EXPECT_NEAR(filled[i], plane[i], 1e-7);
}

TEST(LinearImputation, ShownPixelsStayAndAPictureThatIsAllHiddenTakesItsMean) {
  const std::vector<double> pixels{1, 2, 3, 6, -1, 0, 0, 5};
  EXPECT_EQ(linearly_imputed(pixels, {2, 2, 2}, {false, false, false, false}), pixels);
  EXPECT_EQ(linearly_imputed(pixels, {2, 2, 2}, {true, true, true, true}),
            (std::vector<double>{3, 3, 3, 3, 1, 1, 1, 1}));
  // One pixel is shown: all others are drawn to it.
  for (const double value : linearly_imputed(pixels, {2, 2, 2}, {true, true, false, true})) {
    EXPECT_TRUE(std::abs(value - 3) < 1e-9 || std::abs(value) < 1e-9) << value;
  }
}

TEST(LinearImputation, NoiseIsSmallOnHiddenPixelsAloneAndAlwaysTheSame) {
  constexpr int64_t kSide = 60;
  std::vector<double> pixels(2 * kSide * kSide, 0.25);
  std::vector<bool> hidden(kSide * kSide, true);
  for (int64_t x = 0; x < kSide; ++x) hidden[x] = false;
  const auto noisy = noisily_imputed(pixels, {2, kSide, kSide}, hidden);
  EXPECT_EQ(noisy, noisily_imputed(pixels, {2, kSide, kSide}, hidden));
  double sum = 0, squares = 0, count = 0;
  for (size_t i = 0; i < noisy.size(); ++i) {
    if (!hidden[i % hidden.size()]) {
      EXPECT_EQ(noisy[i], 0.25);
      continue;
    }
    sum += noisy[i] - 0.25;
    squares += (noisy[i] - 0.25) * (noisy[i] - 0.25);
    ++count;
  }
  EXPECT_NEAR(sum / count, 0, 4 * 0.01 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), 0.01, 4 * 0.01 / std::sqrt(2 * count));
}

}  // namespace
}  // namespace whyformer
