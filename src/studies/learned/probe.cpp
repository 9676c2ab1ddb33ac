#include "studies/learned/probe.h"

#include <fmt/format.h>

#include <algorithm>

#include "studies/concepts/cav.h"
#include "studies/concepts/statistics.h"
#include "studies/learned/ridge.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Penalties over the mean variance of a column times the number of rows.
constexpr std::array kPenalties{1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2};

std::vector<float> fitted_floats(const FloatRows& rows, const std::vector<int64_t>& which) {
  std::vector<float> some;
  some.reserve(which.size() * static_cast<size_t>(rows.width));
  for (const int64_t row : which) {
    const float* numbers = rows.data + row * rows.width;
    some.insert(some.end(), numbers, numbers + rows.width);
  }
  return some;
}

class RidgeProbe final : public LinearProbe {
 public:
  RidgeProbe(const FloatRows& rows, const ProbeSplit& split)
      : rows_(static_cast<int64_t>(split.fitted.size())), width_(rows.width) {
    const std::vector<float> fitted = fitted_floats(rows, split.fitted);
    const std::vector<double> x(fitted.begin(), fitted.end());
    scale_ = Ridge::scale_of(x, rows_);
    if (!(scale_ > 0)) scale_ = 1;  // all rows are equal, and every penalty is as good
    std::vector<double> penalties;
    for (const double penalty : kPenalties) penalties.push_back(penalty * scale_);
    ridge_ = std::make_unique<Ridge>(x, rows_, std::move(penalties));
  }

  ProbeDirections fit(const std::vector<int>& labels, int count,
                      std::optional<double>* penalty) const override {
    std::vector<double> y(static_cast<size_t>(count) * labels.size(), 0);
    for (size_t row = 0; row < labels.size(); ++row) y[labels[row] * labels.size() + row] = 1;
    const LinearProbeFit fit = ridge_->fit(y);
    if (penalty != nullptr) *penalty = fit.penalty / scale_;
    return {count, width_, std::vector<float>(fit.weights.begin(), fit.weights.end()),
            std::vector<float>(fit.intercepts.begin(), fit.intercepts.end())};
  }

 private:
  int64_t rows_, width_;
  double scale_ = 1;
  std::unique_ptr<Ridge> ridge_;
};

class LogisticProbe final : public LinearProbe {
 public:
  LogisticProbe(const FloatRows& rows, const ProbeSplit& split, double strength)
      : width_(rows.width),
        strength_(strength),
        fitted_(fitted_floats(rows, split.fitted)),
        mean_(width_, 0),
        products_(inner_products(
            {fitted_.data(), static_cast<int64_t>(split.fitted.size()), width_}, {})) {
    for (size_t i = 0; i < fitted_.size(); ++i) {
      mean_[i % width_] += fitted_[i] / static_cast<double>(split.fitted.size());
    }
  }

  ProbeDirections fit(const std::vector<int>& labels, int count,
                      std::optional<double>*) const override {
    ProbeDirections found{count, width_};
    for (int label = 0; label < count; ++label) {
      ExampleRows with, without;
      for (size_t row = 0; row < labels.size(); ++row) {
        (labels[row] == label ? with : without).push_back(static_cast<int64_t>(row));
      }
      if (with.empty() || without.empty()) {  // shuffled away: never, or always
        found.weights.resize(found.weights.size() + width_, 0);
        found.intercepts.push_back(with.empty() ? -1e30f : 1e30f);
        continue;
      }
      const Cav cav = fit_cav(products_.gram, with, without, {.strength = strength_});
      std::vector<double> weights(width_, 0);
      for (size_t i = 0; i < cav.rows.size(); ++i) {
        const float* numbers = fitted_.data() + cav.rows[i] * width_;
        for (int64_t j = 0; j < width_; ++j) weights[j] += cav.weights[i] * numbers[j];
      }
      double intercept = cav.intercept;  // of rows less their mean
      for (int64_t j = 0; j < width_; ++j) intercept -= weights[j] * mean_[j];
      found.weights.insert(found.weights.end(), weights.begin(), weights.end());
      found.intercepts.push_back(static_cast<float>(intercept));
    }
    return found;
  }

 private:
  int64_t width_;
  double strength_;
  std::vector<float> fitted_;
  std::vector<double> mean_;
  InnerProducts products_;
};

}  // namespace

std::unique_ptr<LinearProbe> make_probe(const FloatRows& rows, const ProbeSplit& split,
                                        const LearnedRequest& request) {
  if (request.probe == ProbeKind::kRidge) return std::make_unique<RidgeProbe>(rows, split);
  return std::make_unique<LogisticProbe>(rows, split, request.strength);
}

std::vector<int> predictions(const ProbeDirections& directions, const FloatRows& rows,
                             std::span<const int64_t> which) {
  std::vector<int> labels;
  for (const int64_t row : which) {
    const float* numbers = rows.data + row * rows.width;
    int best = 0;
    double most = 0;
    for (int64_t label = 0; label < directions.labels; ++label) {
      const float* weights = directions.weights.data() + label * rows.width;
      double score = directions.intercepts[label];
      for (int64_t i = 0; i < rows.width; ++i)
        score += static_cast<double>(weights[i]) * numbers[i];
      if (label > 0 && !(score > most)) continue;
      most = score;
      best = static_cast<int>(label);
    }
    labels.push_back(best);
  }
  return labels;
}

ProbeAccuracy accuracy_of(int64_t hits, int64_t rows) {
  const BinomialInterval interval = binomial_interval(hits, rows, 0.95);
  return {hits, rows, interval.low, interval.high};
}

}  // namespace whyformer
