#include "readers/pictures/linear_imputation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/parallel.h"
#include "base/random.h"
#include "tests/support/source_folder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;

// Row by row, the authors' equations by Gaussian elimination: of a hidden pixel, Σ weight ·
// (neighbour - pixel) = 0 over the neighbours in the picture; a shown pixel is itself.
std::vector<double> by_elimination(std::vector<double> x, int64_t height, int64_t width,
                                   const std::vector<bool>& hidden) {
  const int64_t count = height * width;
  std::vector<std::vector<double>> a(count, std::vector<double>(count, 0.0));
  for (int64_t i = 0; i < count; ++i) {
    a[i][i] = hidden[i] ? 0 : 1;
    if (hidden[i]) x[i] = 0;
    for (int64_t j = 0; hidden[i] && j < count; ++j) {
      const int64_t down = std::abs(i / width - j / width), right = std::abs(i % width - j % width);
      if (i == j || down > 1 || right > 1) continue;
      a[i][j] = down + right == 1 ? -1.0 / 6 : -1.0 / 12;
      a[i][i] -= a[i][j];
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = i + 1; k < count; ++k) {
      const double factor = a[k][i] / a[i][i];
      if (factor == 0) continue;
      for (int64_t j = i; j < count; ++j) a[k][j] -= factor * a[i][j];
      x[k] -= factor * x[i];
    }
  }
  for (int64_t i = count - 1; i >= 0; --i) {
    for (int64_t j = i + 1; j < count; ++j) x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
  return x;
}

// What is hidden of the pixel (y, x).
using Pattern = bool (*)(int64_t y, int64_t x, int64_t height, int64_t width);
constexpr std::pair<const char*, Pattern> kPatterns[] = {
    {"all but the first", [](int64_t y, int64_t x, int64_t, int64_t) { return y + x > 0; }},
    {"all but one inside",
     [](int64_t y, int64_t x, int64_t h, int64_t w) { return y != h / 2 || x != w / 3; }},
    {"checkerboard", [](int64_t y, int64_t x, int64_t, int64_t) { return (y + x) % 2 == 1; }},
    {"every other row", [](int64_t y, int64_t, int64_t, int64_t) { return y % 2 == 0; }},
    {"islands",
     [](int64_t y, int64_t x, int64_t, int64_t) { return y % 5 != 4 && x % 7 != 6 && x % 7 != 2; }},
    {"border", [](int64_t y, int64_t x, int64_t h,
                  int64_t w) { return y < 2 || x < 1 || y >= h - 1 || x >= w - 3; }},
    {"all but a thin wall", [](int64_t, int64_t x, int64_t, int64_t w) { return x != w / 2; }},
    {"all but lattice points",
     [](int64_t y, int64_t x, int64_t, int64_t) { return y % 5 != 1 || x % 5 != 3; }},
};

std::vector<double> random_pixels(int64_t count) {
  const CounterRandom random(7, "pixels", 0);
  std::vector<double> pixels;
  for (int64_t i = 0; i < count; ++i) pixels.push_back(3 + random.normal(i));
  return pixels;
}

TEST(LinearImputation, EqualsGaussianEliminationForEveryPatternAndSize) {
  const std::pair<int64_t, int64_t> sizes[] = {{1, 2}, {1, 9},   {6, 1},   {2, 3},
                                               {5, 8}, {13, 10}, {16, 16}, {17, 23}};
  for (const auto& [height, width] : sizes) {
    const auto pixels = random_pixels(height * width);
    for (const auto& [name, hides] : kPatterns) {
      std::vector<bool> hidden;
      for (int64_t i = 0; i < height * width; ++i) {
        hidden.push_back(hides(i / width, i % width, height, width));
      }
      if (std::count(hidden.begin(), hidden.end(), false) == 0) continue;
      const auto found = linearly_imputed(pixels, {1, height, width}, hidden);
      const auto expected = by_elimination(pixels, height, width, hidden);
      for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], expected[i], 1e-8) << name << " of " << height << " x " << width;
      }
    }
  }
}

TEST(LinearImputation, EquationsOfALargePictureHoldUpToTheTolerance) {
  constexpr int64_t kHeight = 101, kWidth = 150;
  const auto pixels = random_pixels(kHeight * kWidth);
  for (const auto& [name, hides] : kPatterns) {
    for (const double tolerance : {1e-10, 1e-6}) {
      std::vector<bool> hidden;
      for (int64_t i = 0; i < kHeight * kWidth; ++i) {
        hidden.push_back(hides(i / kWidth, i % kWidth, kHeight, kWidth));
      }
      const auto x = linearly_imputed(pixels, {1, kHeight, kWidth}, hidden, tolerance);
      double residual = 0, shown = 0;
      for (int64_t i = 0; i < kHeight * kWidth; ++i) {
        double sum = 0, known = 0;
        for (int64_t down = -1; down <= 1; ++down) {
          for (int64_t right = -1; right <= 1; ++right) {
            const int64_t row = i / kWidth + down, column = i % kWidth + right;
            if (row < 0 || row >= kHeight || column < 0 || column >= kWidth) continue;
            const int64_t at = row * kWidth + column;
            const double weight = down != 0 && right != 0 ? 1.0 / 12 : 1.0 / 6;
            sum += weight * (x[at] - x[i]);
            known += hidden[at] ? 0 : weight * x[at];
          }
        }
        residual += hidden[i] ? sum * sum : 0;
        shown += hidden[i] ? known * known : 0;
      }
      EXPECT_LE(std::sqrt(residual), 1.1 * tolerance * std::sqrt(shown)) << name;
    }
  }
}

TEST(LinearImputation, IsTheSameWithAnyNumberOfThreads) {
  const auto pixels = random_pixels(3 * 40 * 30);
  std::vector<bool> hidden(40 * 30, true);
  hidden[77] = hidden[500] = false;
  const int threads = thread_count();
  set_thread_count(1);
  const auto alone = noisily_imputed(pixels, {3, 40, 30}, hidden);
  set_thread_count(3);
  const auto together = noisily_imputed(pixels, {3, 40, 30}, hidden);
  set_thread_count(threads);
  EXPECT_EQ(alone, together);
}

TEST(LinearImputation, AShownPixelThatIsNotFiniteIsAnError) {
  std::vector<double> pixels(20, 1.0);
  std::vector<bool> hidden(20, false);
  hidden[7] = true;
  pixels[8] = std::nan("");
  EXPECT_THROW(linearly_imputed(pixels, {1, 4, 5}, hidden), Error);
}

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
