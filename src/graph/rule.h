// How relevance is shared out at one operator: the words that policies are written in.
#pragma once

#include <array>
#include <string_view>

namespace whyformer {

enum class RuleKind {
  kIdentity,      // passes unchanged
  kStop,          // passes nothing: the operator counts as constant
  kProportional,  // x ⊙ Jᵀ(R / f(x)), J without normalisers: shares of the output (z- and ε-rule)
  kAlphaBeta,     // products of x and w in two groups by their sign, weighted α and -β
  kPositiveBySign,  // positive products, divided separately for positive and for negative x
  kGamma,           // proportional, with products of the output's sign counted 1 + γ times
  kBox,             // z^B, for inputs that lie between known bounds
  kGradient         // x ⊙ Jᵀ(R / f(x)) with the whole Jacobian: AttnLRP's softmax
};

// Keeps a division finite: b + ε, or b + ε·sign(b); a ratio over exactly 0 is 0.
struct Stabiliser {
  double epsilon = 1e-9;
  bool sign_aware = false;

  template <typename T>
  T ratio(T numerator, T denominator) const {
    if (denominator == 0) return 0;
    const T step = static_cast<T>(sign_aware && denominator < 0 ? -epsilon : epsilon);
    return denominator + step == 0 ? numerator / static_cast<T>(epsilon)
                                   : numerator / (denominator + step);
  }
};

struct Rule {
  RuleKind kind = RuleKind::kProportional;
  Stabiliser stabiliser = {};
  bool bias = false;                   // a bias has its share in the output and takes it away
  std::array<double, 2> shares{1, 1};  // of the two factors of a product
  bool rescale = false;                // of a sum: each addend keeps the sign of the whole
  double alpha = 1;
  double beta = 0;
  double gamma = 0;
};

std::string_view name_of(RuleKind kind);

}  // namespace whyformer
