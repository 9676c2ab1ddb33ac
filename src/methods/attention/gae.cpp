#include <fmt/format.h>

#include "methods/attention/stream_methods.h"
#include "methods/relevance/stream_relevance.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

struct GaeOptions {
  int64_t start = 0;  // first layer; negative counts from the output
  OwnEntry own = OwnEntry::kZero;
};

// All eleven equations, for several streams.
Scores over_streams(Run& run, int64_t start, OwnEntry own) {
  const Discovery& found = run.found();
  std::vector<Matrix> weighted;
  for (int layer = 0; layer < run.layers(); ++layer) {
    const AttentionSite& site = found.sites[layer];
    weighted.push_back(
        layer < start
            ? Matrix(found.streams[site.query_stream].tokens, found.streams[site.key_stream].tokens)
            : positive_product(run.attention(layer), run.attention_gradient(layer)));
  }
  const std::vector<double> identity = run.read_out();
  Scores scores = read_relevance(run, stream_relevance(run.graph().graph, found, weighted,
                                                       found.read_out.stream, found.read_out.read));
  const std::optional<int64_t> row = run.read_out_row();
  if (row || own == OwnEntry::kKeep) {
    for (size_t i = 0; i < identity.size(); ++i) scores.values[i] += identity[i];
  }
  treat_own_entry(scores.values, row, own);
  return scores;
}

// Rules 5 and 6 for self-attention: R ← R + Ā·R with Ā = E_h (∇A ⊙ A)⁺, from R = I. Only the
// read-out row is needed: rᵀ ← rᵀ + rᵀ·Ā from the last layer down.
Scores generic_attention(Run& run, const GaeOptions& options) {
  const int64_t start = options.start < 0 ? options.start + run.layers() : options.start;
  if (start < 0 || start >= run.layers()) {
    throw InvalidInput(
        fmt::format("gae.start={}: the model has layers 0 to {}", options.start, run.layers() - 1));
  }
  if (run.several_streams()) return over_streams(run, start, options.own);
  const std::vector<double> identity = run.read_out();
  std::vector<double> scores = identity;
  for (int layer = run.layers() - 1; layer >= start; --layer) {
    const std::vector<double> more =
        times(scores, positive_product(run.attention(layer), run.attention_gradient(layer)));
    for (size_t i = 0; i < scores.size(); ++i) scores[i] += more[i];
  }
  treat_own_entry(scores, run.read_out_row(), options.own);
  // Where many rows are read, the identity is spread over all of them.
  if (!run.read_out_row() && options.own != OwnEntry::kKeep) {
    for (size_t i = 0; i < scores.size(); ++i) scores[i] -= identity[i];
  }
  return {std::move(scores)};
}

}  // namespace

const Method kGenericAttention{
    {.name = "gae",
     .summary = "generic attention explainability: gradient-weighted attention over all layers",
     .paper = "Chefer et al., ICCV 2021",
     .cost = "1 forward, 1 backward",
     .class_specific = true,
     .is_signed = false,
     .options = {{"start", "first layer; -1: the last layer only", int64_t{0}},
                 own_entry_option("zero")},
     .presets = {{"clip",
                  "the authors' CLIP notebook: last layer only",
                  {{"start", int64_t{-1}}}}}},
    {.attention = true, .attention_gradient = true},
    [](Run& run, const OptionReader& options) {
      return generic_attention(
          run, {.start = options.whole("start"), .own = own_entry_named(options.word("own"))});
    }};

}  // namespace whyformer
