#include "readers/pictures/linear_imputation.h"

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "base/random.h"
#include "readers/pictures/grid_equations.h"

namespace whyformer {
namespace {

struct Neighbour {
  int64_t down, right;
  double weight;
  GridValues GridEquations::*coefficients = nullptr;  // of those after the pixel
};
constexpr Neighbour kNeighbours[] = {{-1, -1, 1.0 / 12},
                                     {-1, 0, 1.0 / 6},
                                     {-1, 1, 1.0 / 12},
                                     {0, -1, 1.0 / 6},
                                     {0, 1, 1.0 / 6, &GridEquations::right},
                                     {1, -1, 1.0 / 12, &GridEquations::down_left},
                                     {1, 0, 1.0 / 6, &GridEquations::down},
                                     {1, 1, 1.0 / 12, &GridEquations::down_right}};

// The equations of the hidden pixels: weights of all neighbours · x - those of hidden ones · x =
// those of shown ones · their values. The matrix is symmetric, and positive definite as long as one
// pixel is shown.
class HiddenPixels {
 public:
  HiddenPixels(const std::vector<bool>& hidden, int64_t height, int64_t width)
      : equations_(height, width), hidden_(hidden) {
    for_each_neighbour([&](int64_t y, int64_t x, const Neighbour& one) {
      const int64_t cell = equations_.at(y, x);
      equations_.own[cell] += one.weight;
      if (one.coefficients && hidden_[(y + one.down) * width + x + one.right]) {
        (equations_.*one.coefficients)[cell] = -one.weight;
      }
    });
  }

  const GridEquations& equations() const { return equations_; }

  GridValues from_shown(const double* plane) const {
    GridValues sums(equations_.own.size(), 0.0);
    for_each_neighbour([&](int64_t y, int64_t x, const Neighbour& one) {
      const int64_t at = (y + one.down) * equations_.width + x + one.right;
      if (!hidden_[at]) sums[equations_.at(y, x)] += one.weight * plane[at];
    });
    return sums;
  }

 private:
  // Calls visit(y, x, neighbour) for hidden pixels and their neighbours in the picture.
  template <class Visit>
  void for_each_neighbour(Visit visit) const {
    const int64_t height = equations_.height, width = equations_.width;
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        if (!hidden_[y * width + x]) continue;
        for (const Neighbour& one : kNeighbours) {
          const int64_t down = y + one.down, right = x + one.right;
          if (down < 0 || down >= height || right < 0 || right >= width) continue;
          visit(y, x, one);
        }
      }
    }
  }

  GridEquations equations_;
  const std::vector<bool>& hidden_;
};

}  // namespace

std::vector<double> linearly_imputed(const std::vector<double>& pixels, const Shape& shape,
                                     const std::vector<bool>& hidden, double tolerance) {
  const int64_t plane = shape[1] * shape[2];
  std::vector<double> filled = pixels;
  if (std::find(hidden.begin(), hidden.end(), false) == hidden.end()) {
    for (auto values = filled.begin(); values != filled.end(); values += plane) {
      const double sum = std::accumulate(values, values + plane, 0.0);
      std::fill(values, values + plane, sum / static_cast<double>(plane));
    }
    return filled;
  }
  const HiddenPixels pixels_to_fill(hidden, shape[1], shape[2]);
  const MultigridSolver solver(pixels_to_fill.equations());
  parallel_for(shape[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel) {
      double* values = filled.data() + channel * plane;
      const GridValues x = solver.solve(pixels_to_fill.from_shown(values), tolerance);
      for (int64_t pixel = 0; pixel < plane; ++pixel) {
        if (!hidden[pixel]) continue;
        values[pixel] = x[pixels_to_fill.equations().at(pixel / shape[2], pixel % shape[2])];
      }
    }
  });
  return filled;
}

std::vector<double> noisily_imputed(const std::vector<double>& pixels, const Shape& shape,
                                    const std::vector<bool>& hidden) {
  constexpr double kDeviation = 0.01;
  // Far below the noise.
  std::vector<double> filled = linearly_imputed(pixels, shape, hidden, 1e-6);
  const int64_t plane = shape[1] * shape[2];
  for (int64_t channel = 0; channel < shape[0]; ++channel) {
    const CounterRandom random(0, "linear-imputation", channel);
    for (int64_t pixel = 0; pixel < plane; ++pixel) {
      if (hidden[pixel]) filled[channel * plane + pixel] += kDeviation * random.normal(pixel);
    }
  }
  return filled;
}

}  // namespace whyformer
