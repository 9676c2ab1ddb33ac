#include "games/lasso.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace whyformer {
namespace {

constexpr double kTolerance = 1e-4;
constexpr int kMostRounds = 1000;

class Descent {
 public:
  Descent(const GramSystem& system, double alpha)
      : system_(system),
        penalty_(alpha * static_cast<double>(system.rows)),
        coefficients_(system.columns),
        correlation_(system.right),
        kept_(system.columns) {
    std::iota(kept_.begin(), kept_.end(), 0);
    std::erase_if(kept_, [&](int64_t j) { return square(j) == 0; });
  }

  std::vector<double> run() {
    if (close_enough()) return coefficients_;
    screen();
    for (int round = 1; round <= kMostRounds; ++round) {
      const bool settled = descend();
      if (!settled && round < kMostRounds) continue;
      if (close_enough()) break;
      screen();
    }
    return coefficients_;
  }

 private:
  double square(int64_t column) const { return system_.gram[column * system_.columns + column]; }

  void set(int64_t column, double coefficient) {
    const double change = coefficient - coefficients_[column];
    if (change == 0) return;
    const double* products = system_.gram.data() + column * system_.columns;
    for (int64_t k = 0; k < system_.columns; ++k) correlation_[k] -= change * products[k];
    coefficients_[column] = coefficient;
  }

  // One round over the columns; true when it changed little.
  bool descend() {
    double largest = 0, largest_change = 0;
    for (const int64_t column : kept_) {
      const double before = coefficients_[column];
      const double pull = correlation_[column] + before * square(column);
      set(column, std::copysign(std::max(std::abs(pull) - penalty_, 0.0), pull) / square(column));
      largest_change = std::max(largest_change, std::abs(coefficients_[column] - before));
      largest = std::max(largest, std::abs(coefficients_[column]));
    }
    return largest == 0 || largest_change / largest <= kTolerance;
  }

  bool close_enough() {
    double fitted = 0, left = 0, norm = 0;  // wᵀXᵀY, wᵀXᵀR, ‖w‖₁
    strongest_ = 0;
    for (int64_t j = 0; j < system_.columns; ++j) {
      fitted += coefficients_[j] * system_.right[j];
      left += coefficients_[j] * correlation_[j];
      norm += std::abs(coefficients_[j]);
      strongest_ = std::max(strongest_, std::abs(correlation_[j]));
    }
    const double residual_target = system_.target_square - fitted;
    const double residual_square = residual_target - left;
    const double scale = strongest_ > penalty_ ? penalty_ / strongest_ : 1;
    const double primal = residual_square / 2 + penalty_ * norm;
    const double dual = scale * residual_target - scale * scale * residual_square / 2;
    gap_ = primal - dual;
    return gap_ <= kTolerance * system_.target_square;
  }

  // Gap safe rule: columns that are certainly 0 in the solution are let go.
  void screen() {
    std::vector<int64_t> still;
    for (const int64_t column : kept_) {
      const double correlation = correlation_[column] / std::max(penalty_, strongest_);
      const double distance = (1 - std::abs(correlation)) / std::sqrt(square(column));
      if (distance <= std::sqrt(2 * std::max(gap_, 0.0)) / penalty_) still.push_back(column);
    }
    for (const int64_t column : kept_) {
      if (!std::binary_search(still.begin(), still.end(), column)) set(column, 0);
    }
    kept_ = std::move(still);
  }

  const GramSystem& system_;
  double penalty_;
  std::vector<double> coefficients_;
  std::vector<double> correlation_;  // of all columns with the residual
  std::vector<int64_t> kept_;
  double strongest_ = 0, gap_ = 0;
};

}  // namespace

std::vector<double> lasso(const GramSystem& system, double alpha) {
  return Descent(system, alpha).run();
}

}  // namespace whyformer
