#include "methods/method.h"
#include "run/attention_math.h"

namespace whyformer {
namespace {

enum class Axis { kQuery, kKey };

// r_i = 1/(L·H·n) Σ over layers, heads and the other axis of A ⊙ (∂y/∂A)⁺. The paper sums a token's
// own row (query axis); the key axis sums what the token receives. Of attention between streams a
// row counts for the queries' stream and what is received for the keys'; n is the length that is
// summed over.
Scores grad_sam(Run& run, Axis axis) {
  run.require_maps();
  Scores scores{std::vector<double>(run.tokens(), 0.0)};
  const std::vector<UnitRange> streams = run.input().streams();
  for (int layer = 0; layer < run.layers(); ++layer) {
    const Matrix map = positive_product(run.attention(layer), run.attention_gradient(layer));
    const AttentionSite& site = run.found().sites[layer];
    const bool rows = axis == Axis::kQuery;
    const int stream = rows ? site.query_stream : site.key_stream;
    const int64_t first = streams.empty() ? 0 : streams[stream].first;
    // `map` is a mean over heads already.
    const double scale = 1.0 / static_cast<double>(run.layers() * (rows ? map.columns : map.rows));
    for (int64_t i = 0; i < map.rows; ++i) {
      for (int64_t j = 0; j < map.columns; ++j)
        scores.values[first + (rows ? i : j)] += scale * map.at(i, j);
    }
  }
  return scores;
}

}  // namespace

const Method kGradSam{
    {.name = "grad-sam",
     .summary = "attention times its positive gradient, summed over layers and heads",
     .paper = "Barkan et al., CIKM 2021",
     .cost = "1 forward, 1 backward",
     .class_specific = true,
     .is_signed = false,
     .options = {{"axis",
                  "sum over each token's query row (as in the paper), or over its key column",
                  std::string("query"),
                  {"query", "key"}}},
     .presets = {}},
    {.attention = true, .attention_gradient = true},
    [](Run& run, const OptionReader& options) {
      return grad_sam(run, options.word("axis") == "key" ? Axis::kKey : Axis::kQuery);
    }};

}  // namespace whyformer
