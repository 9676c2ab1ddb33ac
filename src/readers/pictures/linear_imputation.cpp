#include "readers/pictures/linear_imputation.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace whyformer {
namespace {

struct Neighbour {
  int64_t down, right;
  double weight;
};
constexpr Neighbour kNeighbours[] = {{-1, -1, 1.0 / 12}, {-1, 0, 1.0 / 6}, {-1, 1, 1.0 / 12},
                                     {0, -1, 1.0 / 6},   {0, 1, 1.0 / 6},  {1, -1, 1.0 / 12},
                                     {1, 0, 1.0 / 6},    {1, 1, 1.0 / 12}};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The equations of the hidden pixels: weights of all neighbours · x - those of hidden ones · x =
// those of shown ones · their values. The matrix is symmetric, and positive definite as long as one
// pixel is shown.
class HiddenPixels {
 public:
  HiddenPixels(const std::vector<bool>& hidden, int64_t height, int64_t width) {
    std::vector<int64_t> number(hidden.size(), -1);
    for (size_t pixel = 0; pixel < hidden.size(); ++pixel) {
      if (!hidden[pixel]) continue;
      number[pixel] = count();
      pixels_.push_back(static_cast<int64_t>(pixel));
    }
    for (const int64_t pixel : pixels_) {
      double sum = 0;
      for (const Neighbour& one : kNeighbours) {
        const int64_t y = pixel / width + one.down, x = pixel % width + one.right;
        if (y < 0 || y >= height || x < 0 || x >= width) continue;
        sum += one.weight;
        const int64_t at = y * width + x;
        (hidden[at] ? links_ : edges_).push_back({hidden[at] ? number[at] : at, one.weight});
      }
      weights_.push_back(sum);
      links_end_.push_back(links_.size());
      edges_end_.push_back(edges_.size());
    }
  }

  int64_t count() const { return static_cast<int64_t>(pixels_.size()); }
  const std::vector<int64_t>& pixels() const { return pixels_; }

  // Conjugate gradients, each equation divided by its weights first.
  std::vector<double> solve(const double* plane, double tolerance) const {
    std::vector<double> residual = from_shown(plane), solution(residual.size(), 0.0);
    const double small = tolerance * tolerance * dot(residual, residual);
    std::vector<double> divided = by_weights(residual), direction = divided;
    double length = dot(residual, divided);
    // Rounding can keep the residual from getting smaller than asked for.
    for (int64_t step = 0; step < 10 * count() && dot(residual, residual) > small; ++step) {
      const std::vector<double> image = applied(direction);
      const double stride = length / dot(direction, image);
      for (size_t i = 0; i < solution.size(); ++i) {
        solution[i] += stride * direction[i];
        residual[i] -= stride * image[i];
      }
      divided = by_weights(residual);
      const double before = length;
      length = dot(residual, divided);
      for (size_t i = 0; i < direction.size(); ++i) {
        direction[i] = divided[i] + length / before * direction[i];
      }
    }
    return solution;
  }

 private:
  struct Link {
    int64_t to;
    double weight;
  };

  std::vector<double> from_shown(const double* plane) const {
    std::vector<double> sums(pixels_.size(), 0.0);
    for (size_t i = 0, edge = 0; i < sums.size(); ++i) {
      for (; edge < edges_end_[i]; ++edge) sums[i] += edges_[edge].weight * plane[edges_[edge].to];
    }
    return sums;
  }

  std::vector<double> by_weights(const std::vector<double>& values) const {
    std::vector<double> divided(values.size());
    for (size_t i = 0; i < values.size(); ++i) divided[i] = values[i] / weights_[i];
    return divided;
  }

  std::vector<double> applied(const std::vector<double>& values) const {
    std::vector<double> image(values.size());
    for (size_t i = 0, link = 0; i < values.size(); ++i) {
      image[i] = weights_[i] * values[i];
      for (; link < links_end_[i]; ++link) {
        image[i] -= links_[link].weight * values[links_[link].to];
      }
    }
    return image;
  }

  std::vector<int64_t> pixels_;
  std::vector<double> weights_;  // sum over the neighbours of each
  std::vector<Link> links_;      // to hidden neighbours, by number
  std::vector<Link> edges_;      // to shown neighbours, by pixel
  std::vector<size_t> links_end_, edges_end_;
};

}  // namespace

std::vector<double> linearly_imputed(const std::vector<double>& pixels, const Shape& shape,
                                     const std::vector<bool>& hidden, double tolerance) {
  const int64_t plane = shape[1] * shape[2];
  const HiddenPixels equations(hidden, shape[1], shape[2]);
  std::vector<double> filled = pixels;
  for (int64_t channel = 0; channel < shape[0]; ++channel) {
    double* values = filled.data() + channel * plane;
    if (equations.count() == plane) {
      const double mean = std::accumulate(values, values + plane, 0.0) / static_cast<double>(plane);
      std::fill(values, values + plane, mean);
      continue;
    }
    const std::vector<double> solution = equations.solve(values, tolerance);
    for (size_t i = 0; i < solution.size(); ++i) values[equations.pixels()[i]] = solution[i];
  }
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
