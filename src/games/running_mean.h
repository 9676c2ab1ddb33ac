#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace whyformer {

// Mean and spread of numbers that come one by one (Welford).
class RunningMean {
 public:
  void add(double number) {
    const double before = number - mean_;
    mean_ += before / static_cast<double>(++count_);
    squares_ += before * (number - mean_);
  }

  int64_t count() const { return count_; }
  double mean() const { return mean_; }
  // Of the numbers as a sample of many more.
  double variance() const {
    return count_ < 2 ? std::numeric_limits<double>::infinity()
                      : squares_ / static_cast<double>(count_ - 1);
  }
  // Of the numbers as all there are.
  double variance_of_all() const { return count_ < 1 ? 0 : squares_ / static_cast<double>(count_); }
  double standard_error() const { return std::sqrt(variance() / static_cast<double>(count_)); }

 private:
  int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

}  // namespace whyformer
