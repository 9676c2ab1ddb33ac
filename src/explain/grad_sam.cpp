#include "explain/attention_math.h"
#include "explain/method.h"

namespace whyformer {
namespace {

enum class Axis { kQuery, kKey };

// r_i = 1/(L·H·n) Σ over layers, heads and the other axis of A ⊙ (∂y/∂A)⁺. The paper sums a token's
// own row (query axis); the key axis sums what the token receives.
Scores grad_sam(Explained& explained, Axis axis) {
  const int64_t n = explained.tokens();
  Scores scores{std::vector<double>(n, 0.0)};
  for (int layer = 0; layer < explained.layers(); ++layer) {
    const Matrix map = positive_product(explained.attention(layer),
                                                   explained.attention_gradient(layer));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) scores.values[axis == Axis::kQuery ? i : j] += map.at(i, j);
    }
  }
  // `map` is a mean over heads already.
  const double scale = 1.0 / static_cast<double>(explained.layers() * n);
  for (double& score : scores.values) score *= scale;
  return scores;
}

}  // namespace

const Method kGradSam{
    {.name = "grad-sam",
     .summary = "attention times its positive gradient, summed over all layers and heads",
     .paper = "Barkan et al., CIKM 2021",
     .cost = "1 forward, 1 backward",
     .class_specific = true,
     .is_signed = false,
     .options = {{"axis",
                  "sum each token's row (query, the paper) or what it receives (key)",
                  std::string("query"),
                  {"query", "key"}}},
     .presets = {}},
    {.attention = true, .attention_gradient = true},
    [](Explained& explained, const OptionReader& options) {
      return grad_sam(explained, options.word("axis") == "key" ? Axis::kKey : Axis::kQuery);
    }};

}  // namespace whyformer
