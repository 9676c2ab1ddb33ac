#include "studies/learned/ridge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/pulse.h"
#include "kernels/cholesky.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// M Mᵀ of a row-major [rows, columns], the lower half.
std::vector<double> products_of_rows(const std::vector<double>& matrix, int64_t rows,
                                     int64_t columns) {
  std::vector<double> products(rows * rows, 0);
  parallel_for(rows, 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      multiply_vector(matrix.data(), i + 1, columns, matrix.data() + i * columns,
                      products.data() + i * rows);
    }
  });
  return products;
}

}  // namespace

double Ridge::scale_of(std::span<const double> x, int64_t rows) {
  const auto width = static_cast<int64_t>(x.size()) / std::max<int64_t>(1, rows);
  double squares = 0;
  for (int64_t column = 0; column < width; ++column) {
    double mean = 0;
    for (int64_t row = 0; row < rows; ++row) mean += x[row * width + column];
    mean /= static_cast<double>(rows);
    for (int64_t row = 0; row < rows; ++row) {
      const double off = x[row * width + column] - mean;
      squares += off * off;
    }
  }
  return squares / static_cast<double>(std::max<int64_t>(1, width));
}

Ridge::Ridge(std::span<const double> x, int64_t rows, std::vector<double> penalties)
    : rows_(rows),
      width_(rows > 0 ? static_cast<int64_t>(x.size()) / rows : 0),
      x_(x.begin(), x.end()),
      mean_(width_, 0),
      penalties_(std::move(penalties)) {
  if (rows_ < 2 || width_ < 1) {
    throw InvalidInput(
        fmt::format("ridge regression: {} rows of {} numbers are too few", rows_, width_));
  }
  for (int64_t i = 0; i < rows_ * width_; ++i) mean_[i % width_] += x_[i];
  for (double& mean : mean_) mean /= static_cast<double>(rows_);
  transposed_.resize(x_.size());
  for (int64_t row = 0; row < rows_; ++row) {
    for (int64_t column = 0; column < width_; ++column) {
      double& number = x_[row * width_ + column];
      if (!std::isfinite(number)) {
        throw InvalidInput("ridge regression: activations are not numbers, or too large");
      }
      number -= mean_[column];
      transposed_[column * rows_ + row] = number;
    }
  }
  const std::vector<double> products = is_dual() ? products_of_rows(x_, rows_, width_)
                                                 : products_of_rows(transposed_, width_, rows_);
  systems_.resize(penalties_.size());
  for (size_t i = 0; i < penalties_.size(); ++i) {
    pulse();
    factorise(products, penalties_[i], systems_[i]);
  }
}

void Ridge::factorise(const std::vector<double>& products, double penalty, Penalised& into) const {
  if (!(penalty > 0) || !std::isfinite(penalty)) {
    throw InvalidInput(
        fmt::format("ridge regression: the penalty is {:g}: expected a number above 0", penalty));
  }
  into.factor = products;
  for (int64_t i = 0; i < size(); ++i) into.factor[i * size() + i] += penalty;
  if (!factor_cholesky(into.factor.data(), size())) {
    throw InvalidInput("ridge regression: the penalty is too small for activations of this size");
  }
  into.leverage.resize(rows_);
  parallel_for(rows_, 8, [&](int64_t begin, int64_t end) {
    std::vector<double> solved(size());
    for (int64_t row = begin; row < end; ++row) {
      double leverage = 0;
      if (is_dual()) {  // H = I − λ (K + λI)⁻¹
        std::fill(solved.begin(), solved.end(), 0);
        solved[row] = 1;
        solve_cholesky(into.factor.data(), size(), solved.data());
        leverage = 1 - penalty * solved[row];
      } else {  // H = X (XᵀX + λI)⁻¹ Xᵀ
        const double* numbers = x_.data() + row * width_;
        std::copy_n(numbers, width_, solved.begin());
        solve_cholesky(into.factor.data(), size(), solved.data());
        for (int64_t i = 0; i < width_; ++i) leverage += numbers[i] * solved[i];
      }
      into.leverage[row] = leverage + 1 / static_cast<double>(rows_);
    }
  });
}

std::vector<double> Ridge::centred(std::span<const double> y) const {
  double mean = 0;
  for (const double number : y) mean += number / static_cast<double>(rows_);
  std::vector<double> off(y.begin(), y.end());
  for (double& number : off) number -= mean;
  return off;
}

std::vector<double> Ridge::weights_of(std::span<const double> centred_y,
                                      const Penalised& system) const {
  std::vector<double> weights(width_);
  if (is_dual()) {
    std::vector<double> dual(centred_y.begin(), centred_y.end());
    solve_cholesky(system.factor.data(), rows_, dual.data());
    multiply_vector(transposed_.data(), width_, rows_, dual.data(), weights.data());
  } else {
    multiply_vector(transposed_.data(), width_, rows_, centred_y.data(), weights.data());
    solve_cholesky(system.factor.data(), width_, weights.data());
  }
  return weights;
}

std::vector<double> Ridge::leave_one_out(std::span<const double> y, size_t penalty) const {
  const auto outputs = static_cast<int64_t>(y.size()) / rows_;
  const Penalised& system = systems_[penalty];
  std::vector<double> residuals(y.size());
  parallel_for(outputs, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> fitted(rows_);
    for (int64_t output = begin; output < end; ++output) {
      const std::vector<double> own = centred(y.subspan(output * rows_, rows_));
      const std::vector<double> weights = weights_of(own, system);
      multiply_vector(x_.data(), rows_, width_, weights.data(), fitted.data());
      for (int64_t row = 0; row < rows_; ++row) {
        residuals[output * rows_ + row] = (own[row] - fitted[row]) / (1 - system.leverage[row]);
      }
    }
  });
  return residuals;
}

LinearProbeFit Ridge::fit(std::span<const double> y) const {
  LinearProbeFit fit;
  size_t best = 0;
  for (size_t penalty = 0; penalty < penalties_.size(); ++penalty) {
    pulse();
    double error = 0;
    for (const double residual : leave_one_out(y, penalty)) error += residual * residual;
    fit.errors.push_back(error / static_cast<double>(y.size()));
    if (fit.errors[penalty] < fit.errors[best]) best = penalty;
  }
  fit.penalty = penalties_[best];
  for (size_t first = 0; first < y.size(); first += rows_) {
    const auto own = y.subspan(first, rows_);
    const std::vector<double> weights = weights_of(centred(own), systems_[best]);
    double intercept = 0;
    for (const double number : own) intercept += number / static_cast<double>(rows_);
    for (int64_t i = 0; i < width_; ++i) intercept -= weights[i] * mean_[i];
    fit.weights.insert(fit.weights.end(), weights.begin(), weights.end());
    fit.intercepts.push_back(intercept);
  }
  return fit;
}

}  // namespace whyformer
