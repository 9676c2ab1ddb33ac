#include "studies/concepts/cav.h"

#include <algorithm>
#include <cmath>

#include "base/pulse.h"
#include "kernels/cholesky.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int kMostSteps = 100;
// Below this every example is told apart beyond doubt, and none says where the intercept should go.
constexpr double kSaturated = 1e-200;

double sigmoid(double z) {
  if (z >= 0) return 1 / (1 + std::exp(-z));
  const double e = std::exp(z);
  return e / (1 + e);
}

// log(1 + exp(−m)) without overflow.
double logistic_loss(double margin) {
  return std::max(0.0, -margin) + std::log1p(std::exp(-std::abs(margin)));
}

// Newton's method on w = Xᵀa and b, with K = X Xᵀ, z = K a + b, p = σ(z), t ∈ {0, 1}. Stationary
// where a = C (t − p) and Σ a = 0. With S = (C p (1 − p))^½, r = C (t − p) − a and B = I + S K S,
// the step is
//   y = B⁻¹ S (K r + 1 db),  da = r − S y,  db such that Σ (a + da) = 0:
// one symmetric positive system, however many of the p are saturated.
class Fit {
 public:
  Fit(const SquareMatrix& gram, const ExampleRows& rows, size_t concepts, double strength)
      : n_(static_cast<int64_t>(rows.size())), c_(strength), k_(n_), b_(n_) {
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = 0; j < n_; ++j) k_.row(i)[j] = gram.at(rows[i], rows[j]);
    }
    t_.assign(n_, 0);
    std::fill(t_.begin(), t_.begin() + static_cast<ptrdiff_t>(concepts), 1.0);
    for (std::vector<double>* v : {&a_, &ka_, &p_, &r_, &kr_, &s_, &y_, &ys_, &da_, &kda_}) {
      v->assign(n_, 0);
    }
  }

  Cav run(double wanted) {
    start();
    Cav cav;
    for (; cav.steps < kMostSteps; ++cav.steps) {
      pulse();
      look();
      if (residual_ <= wanted * c_) break;
      if (!step()) break;
    }
    look();
    cav.weights = a_;
    cav.intercept = intercept_;
    double square = 0;
    for (int64_t i = 0; i < n_; ++i) square += a_[i] * ka_[i];
    cav.length = std::sqrt(std::max(0.0, square));
    cav.stationarity = residual_ / c_;
    return cav;
  }

 private:
  // The difference of the two means, at its best length: in high dimensions a few steps from the
  // end, where a start at 0 has to let the margins grow step by step.
  void start() {
    double concepts = 0;
    for (const double t : t_) concepts += t;
    std::vector<double> direction(n_), along(n_);
    const double others = static_cast<double>(n_) - concepts;
    for (int64_t i = 0; i < n_; ++i) direction[i] = t_[i] > 0 ? 1 / concepts : -1 / others;
    multiply_vector(k_.numbers.data(), n_, n_, direction.data(), along.data());
    double mean_in = 0, mean_out = 0, square = 0;
    for (int64_t i = 0; i < n_; ++i) {
      (t_[i] > 0 ? mean_in : mean_out) += along[i];
      square += direction[i] * along[i];
    }
    const double middle = (mean_in / concepts + mean_out / others) / 2;
    double length = 0;
    for (int round = 0; round < 30 && square > 0; ++round) {  // Newton in one dimension
      double slope = length * square, curve = square;
      for (int64_t i = 0; i < n_; ++i) {
        const double u = along[i] - middle, p = sigmoid(length * u);
        slope -= c_ * (t_[i] - p) * u;
        curve += c_ * p * (1 - p) * u * u;
      }
      const double change = slope / curve;
      length = std::max(0.0, length - change);
      if (!(std::abs(change) > 1e-3 * length)) break;
    }
    if (!std::isfinite(length)) length = 0;
    for (int64_t i = 0; i < n_; ++i) {
      a_[i] = length * direction[i];
      ka_[i] = length * along[i];
    }
    intercept_ = -length * middle;
  }

  double loss(double along) const {
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n_; ++i) {
      const double z = ka_[i] + along * kda_[i] + intercept_ + along * db_;
      sum += logistic_loss(t_[i] > 0 ? z : -z);
      square += (a_[i] + along * da_[i]) * (ka_[i] + along * kda_[i]);
    }
    return square / 2 + c_ * sum;
  }

  // Probabilities and what is left of the gradient.
  void look() {
    residual_ = 0;
    excess_ = 0;
    for (int64_t i = 0; i < n_; ++i) {
      p_[i] = sigmoid(ka_[i] + intercept_);
      r_[i] = c_ * (t_[i] - p_[i]) - a_[i];
      excess_ += c_ * (t_[i] - p_[i]);
      residual_ = std::max(residual_, std::abs(r_[i]));
    }
    residual_ = std::max(residual_, std::abs(excess_));
    if (!std::isfinite(excess_ +
                       residual_)) {  // a sum keeps what is not a number, a maximum may not
      throw InvalidInput(
          "fitting a concept's direction: activations are not numbers, or too large");
    }
  }

  // False where no step makes it better: as exact as doubles allow.
  bool step() {
    for (int64_t i = 0; i < n_; ++i) s_[i] = std::sqrt(c_ * p_[i] * (1 - p_[i]));
    multiply_vector(k_.numbers.data(), n_, n_, r_.data(), kr_.data());
    if (!factor()) return false;
    for (int64_t i = 0; i < n_; ++i) {
      y_[i] = s_[i] * kr_[i];
      ys_[i] = s_[i];
    }
    solve_cholesky(b_.numbers.data(), n_, y_.data());
    solve_cholesky(b_.numbers.data(), n_, ys_.data());
    double sy = 0, ss = 0;
    for (int64_t i = 0; i < n_; ++i) {
      sy += s_[i] * y_[i];
      ss += s_[i] * ys_[i];
    }
    db_ = ss > kSaturated ? (excess_ - sy) / ss : 0;
    for (int64_t i = 0; i < n_; ++i) da_[i] = r_[i] - s_[i] * (y_[i] + db_ * ys_[i]);
    multiply_vector(k_.numbers.data(), n_, n_, da_.data(), kda_.data());
    return take();
  }

  bool factor() {
    // Gram matrices of floats may be a little below 0 in directions that do not matter.
    for (double jitter = 0; jitter < 1; jitter = std::max(1e-9, jitter * 100)) {
      for (int64_t i = 0; i < n_; ++i) {
        for (int64_t j = 0; j <= i; ++j) b_.row(i)[j] = s_[i] * k_.at(i, j) * s_[j];
        b_.row(i)[i] += 1 + jitter * b_.row(i)[i];
      }
      if (factor_cholesky(b_.numbers.data(), n_)) return true;
    }
    return false;
  }

  // Halves the step until the objective falls, or stays and the gradient falls: near the end, or
  // where a Gram matrix of floats is not quite positive, the objective alone cannot tell. A falling
  // gradient alone is no progress: where a few examples lie far from the others it would lead
  // around in circles.
  bool take() {
    const double before = loss(0), residual = residual_, intercept = intercept_;
    const std::vector<double> a = a_, ka = ka_;
    for (double along = 1; along > 1e-9; along /= 2) {
      const double after = loss(along);
      for (int64_t i = 0; i < n_; ++i) a_[i] = a[i] + along * da_[i];
      multiply_vector(k_.numbers.data(), n_, n_, a_.data(),
                      ka_.data());  // sums of steps would add up rounding
      intercept_ = intercept + along * db_;
      look();
      if (after < before - 1e-12 * std::abs(before)) return true;
      if (after <= before + 1e-9 * std::abs(before) && residual_ < residual) return true;
      a_ = a;
      ka_ = ka;
      intercept_ = intercept;
    }
    return false;
  }

  int64_t n_;
  double c_;
  SquareMatrix k_, b_;
  std::vector<double> t_, a_, ka_, p_, r_, kr_, s_, y_, ys_, da_, kda_;
  double intercept_ = 0, db_ = 0, excess_ = 0, residual_ = 0;
};

}  // namespace

Cav fit_cav(const SquareMatrix& gram, const ExampleRows& concept_rows,
            const ExampleRows& counterpart, const CavOptions& options) {
  if (concept_rows.empty() || counterpart.empty()) {
    throw InvalidInput(
        "fitting a concept's direction: it takes activations of the concept and of others");
  }
  ExampleRows rows = concept_rows;
  rows.insert(rows.end(), counterpart.begin(), counterpart.end());
  Cav cav = Fit(gram, rows, concept_rows.size(), options.strength).run(options.stationarity);
  cav.rows = std::move(rows);
  return cav;
}

double decision(const SquareMatrix& gram, const Cav& cav, int64_t row) {
  double sum = cav.intercept;
  for (size_t i = 0; i < cav.rows.size(); ++i) sum += cav.weights[i] * gram.at(cav.rows[i], row);
  return sum;
}

}  // namespace whyformer
