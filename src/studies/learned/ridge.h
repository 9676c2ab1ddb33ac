// Ridge regression with an intercept that is not penalised, for many right-hand sides of the same
// rows; its penalty is chosen by leave-one-out residuals, which need no refits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace whyformer {

struct LinearProbeFit {
  double penalty = 0;                // λ, the one with the smallest leave-one-out error
  std::vector<double> weights = {};  // [outputs, width]
  std::vector<double> intercepts = {};
  std::vector<double> errors = {};  // mean squared leave-one-out residual of each penalty
};

// minimises |y − X w − b|² + λ |w|². Solved by XᵀX + λI, or by XXᵀ + λI where there are fewer rows
// than columns.
class Ridge {
 public:
  // `x` is [rows, width], row-major. Throws InvalidInput for fewer than two rows and where numbers
  // are not finite or penalties not above 0.
  Ridge(std::span<const double> x, int64_t rows, std::vector<double> penalties);

  // `y` is [outputs, rows].
  LinearProbeFit fit(std::span<const double> y) const;
  // y − ŷ of each row by the fit to the others, [outputs, rows].
  std::vector<double> leave_one_out(std::span<const double> y, size_t penalty) const;

  // The mean variance of the rows times their number: a scale for penalties.
  static double scale_of(std::span<const double> x, int64_t rows);

 private:
  struct Penalised {
    std::vector<double> factor;    // of XᵀX + λI, or XXᵀ + λI
    std::vector<double> leverage;  // of each row, the intercept's included
  };
  bool is_dual() const { return rows_ < width_; }
  int64_t size() const { return is_dual() ? rows_ : width_; }
  void factorise(const std::vector<double>& products, double penalty, Penalised& into) const;
  std::vector<double> weights_of(std::span<const double> centred_y, const Penalised& system) const;
  std::vector<double> centred(std::span<const double> y) const;

  int64_t rows_, width_;
  std::vector<double> x_, transposed_, mean_;  // centred rows, and columns
  std::vector<double> penalties_;
  std::vector<Penalised> systems_;
};

}  // namespace whyformer
