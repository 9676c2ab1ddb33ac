#include "ops/linear_relevance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tensor/map.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Positive and negative products need no matrices of their own: with y = x·W and m = |x|·|W|,
// the positive ones sum to (y + m)/2 and the negative ones to (y - m)/2; likewise on the way back.

constexpr auto kBack = Direction::kBackward;
constexpr auto kOn = Direction::kForward;

Tensor magnitude(const Tensor& x) {
  return map([](auto v) { return std::abs(v); }, x);
}

class LinearRelevance {
 public:
  LinearRelevance(const LinearWeights& weights, const Tensor& x, const Tensor& y, const Tensor& r,
                  const Rule& rule)
      : weights_(weights), x_(x), y_(y), r_(r), rule_(rule) {}

  Tensor proportional() const {
    const Tensor s = ratio(r_, rule_.bias ? y_ : without_bias());
    return map([](auto x, auto b) { return x * b; }, x_, weights_.apply(s, kBack));
  }

  Tensor alpha_beta() const {
    const Tensor y = without_bias();
    const Tensor sizes = weights_.apply(magnitude(x_), kOn, WeightPart::kMagnitude);
    const Tensor positive = group(y, sizes, 1);
    if (rule_.alpha == 1 && rule_.beta == 0) return positive;
    const double alpha = rule_.alpha, beta = rule_.beta;
    const auto weighed = [=](auto a, auto b) {
      using T = decltype(a);
      return static_cast<T>(alpha) * a - static_cast<T>(beta) * b;
    };
    if (beta == 0) return map([=](auto a) { return weighed(a, decltype(a){0}); }, positive);
    return map(weighed, positive, group(y, sizes, -1));
  }

  Tensor positive_by_sign() const {
    const auto part = [&](const Tensor& x, WeightPart sign) {
      const Tensor s = ratio(r_, weights_.apply(x, kOn, sign));
      return map([](auto v, auto b) { return v * b; }, x, weights_.apply(s, kBack, sign));
    };
    const Tensor above = map([](auto v) { return std::max(v, decltype(v){0}); }, x_);
    const Tensor below = map([](auto v) { return std::min(v, decltype(v){0}); }, x_);
    return map([](auto a, auto b) { return a + b; }, part(above, WeightPart::kPositive),
               part(below, WeightPart::kNegative));
  }

  // p = z + γ·(the part of z with the output's sign), so the products of x share
  // (1 + γ/2)·x·(s·W) + γ/2·|x|·((s ⊙ sign y)·|W|).
  Tensor gamma() const {
    const double gamma = rule_.gamma;
    const Tensor sizes = weights_.apply(magnitude(x_), kOn, WeightPart::kMagnitude);
    const Tensor bias = row_of_bias();
    const Tensor s = map(
        [&](auto r, auto y, auto size, auto b) {
          using T = decltype(y);
          if (y == 0) return T{0};
          const T same = y > 0 ? (y - b + size) / 2 + std::max(b, T{0})
                               : (y - b - size) / 2 + std::min(b, T{0});
          return rule_.stabiliser.ratio(r, y + static_cast<T>(gamma) * same);
        },
        r_, y_, sizes, bias);
    const Tensor signs = map([](auto s, auto y) { return y < 0 ? -s : s; }, s, y_);
    return map(
        [gamma](auto x, auto all, auto sized) {
          using T = decltype(x);
          const T half = static_cast<T>(gamma / 2);
          return (1 + half) * x * all + half * std::abs(x) * sized;
        },
        x_, weights_.apply(s, kBack), weights_.apply(signs, kBack, WeightPart::kMagnitude));
  }

  Tensor box(const Bounds& bounds) const {
    const Tensor &low = bounds.least, &high = bounds.most;
    const double epsilon = rule_.stabiliser.epsilon;
    const Tensor s = map(
        [epsilon](auto r, auto y, auto from_low, auto from_high) {
          return r / (y - from_low - from_high + static_cast<decltype(y)>(epsilon));
        },
        r_, without_bias(), weights_.apply(low, kOn, WeightPart::kPositive),
        weights_.apply(high, kOn, WeightPart::kNegative));
    const Tensor inner = map([](auto x, auto b) { return x * b; }, x_, weights_.apply(s, kBack));
    return map([](auto r, auto l, auto pl, auto h, auto ph) { return r - l * pl - h * ph; }, inner,
               low, weights_.apply(s, kBack, WeightPart::kPositive), high,
               weights_.apply(s, kBack, WeightPart::kNegative));
  }

 private:
  Tensor ratio(const Tensor& numerator, const Tensor& denominator) const {
    return map([&](auto a, auto b) { return rule_.stabiliser.ratio(a, b); }, numerator,
               denominator);
  }

  Tensor row_of_bias() const {
    return weights_.bias().defined() ? weights_.bias().expand(y_.shape())
                                     : Tensor::zeros(y_.shape(), y_.dtype());
  }

  Tensor without_bias() const {
    if (!weights_.bias().defined()) return y_;
    return map([](auto y, auto b) { return y - b; }, y_, row_of_bias());
  }

  // Relevance shared among the positive (sign 1) or negative (-1) products.
  Tensor group(const Tensor& y, const Tensor& sizes, int sign) const {
    const Tensor sums = map([sign](auto a, auto m) { return (a + sign * m) / 2; }, y, sizes);
    const Tensor s = ratio(r_, sums);
    return map(
        [sign](auto x, auto all, auto sized) { return (x * all + sign * std::abs(x) * sized) / 2; },
        x_, weights_.apply(s, kBack), weights_.apply(s, kBack, WeightPart::kMagnitude));
  }

  const LinearWeights& weights_;
  const Tensor& x_;
  const Tensor& y_;
  const Tensor& r_;
  const Rule& rule_;
};

}  // namespace

Tensor linear_relevance(const LinearWeights& weights, const Tensor& x, const Tensor& y,
                        const Tensor& relevance, const Rule& rule, const Bounds& bounds) {
  const LinearRelevance shares(weights, x, y, relevance, rule);
  switch (rule.kind) {
    case RuleKind::kProportional:
    case RuleKind::kGradient:
      return shares.proportional();
    case RuleKind::kAlphaBeta:
      return shares.alpha_beta();
    case RuleKind::kPositiveBySign:
      return shares.positive_by_sign();
    case RuleKind::kGamma:
      return shares.gamma();
    case RuleKind::kBox:
      if (bounds.least.defined()) return shares.box(bounds);
      break;
    case RuleKind::kStop:
      return {};
    default:
      break;
  }
  throw InvalidInput(
      fmt::format("the rule '{}' has no meaning for a linear layer", name_of(rule.kind)));
}

}  // namespace whyformer
