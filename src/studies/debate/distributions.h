// Distances of distributions.
#pragma once

#include <span>
#include <vector>

#include "models/config.h"

namespace whyformer {

// In nats: 0 for equal distributions, ln 2 for those that share nothing. 0 · log 0 is 0.
double js_divergence(std::span<const double> p, std::span<const double> q);
// ∂JSD/∂p_j = ½ log(p_j / m_j) with m = (p + q)/2.
void add_js_gradient(std::span<const double> p, std::span<const double> q, double factor,
                     std::span<double> gradient);
double entropy_of(std::span<const double> p);

// How far two answers are apart, and the gradient with respect to the first one's outputs (logits).
// One label of several: total variation ½ Σ|Δp|. Labels that each hold or not: the mean of |Δp|,
// which for one logit is the total variation of its two labels.
struct AnswerDistance {
  Problem problem;

  double operator()(std::span<const double> p, std::span<const double> q) const;
  // `p` are probabilities of the outputs that the gradient is for.
  std::vector<double> gradient(std::span<const double> p, std::span<const double> q) const;
};

// Divided by its sum; equal shares where that is 0.
std::vector<double> normalised(std::vector<double> weights);

double median_of(std::vector<double> values);

}  // namespace whyformer
