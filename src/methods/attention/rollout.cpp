#include "methods/attention/rollout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "methods/attention/stream_methods.h"
#include "methods/relevance/stream_relevance.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Zeroes the smallest entries, a fraction of all; the read-out token's own entry counts among them
// but stays (vit-explain's rule).
void discard_smallest(Matrix& map, double ratio, std::optional<int64_t> row) {
  const auto count = static_cast<int64_t>(static_cast<double>(map.values.size()) * ratio);
  std::vector<int64_t> order(map.values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return map.values[a] < map.values[b]; });
  for (int64_t i = 0; i < count; ++i) {
    if (row && order[i] == *row * map.columns + *row) continue;
    map.values[order[i]] = 0;
  }
}

}  // namespace

Matrix rollout_factor(const Tensor& maps, const RolloutOptions& options,
                      std::optional<int64_t> row) {
  Matrix factor = fuse_heads(maps, options.fusion);
  if (options.discard > 0) discard_smallest(factor, options.discard, row);
  if (options.residual) add_identity(factor);
  if (options.normalise) normalise_rows(factor);
  return factor;
}

namespace {

// Between streams maps are used as they are, like the authors' code does.
Scores rollout_over_streams(Run& run, const RolloutOptions& options) {
  const Discovery& found = run.found();
  const std::optional<int64_t> row = run.read_out_row();
  std::vector<Matrix> maps;
  for (int layer = 0; layer < run.layers(); ++layer) {
    const AttentionSite& site = found.sites[layer];
    RolloutOptions own = options;
    own.residual = options.residual && site.is_self_attention();
    own.normalise = options.normalise && site.is_self_attention();
    maps.push_back(rollout_factor(run.attention(layer), own, std::nullopt));
    if (layer >= options.start) continue;
    maps.back() =
        Matrix(found.streams[site.query_stream].tokens, found.streams[site.key_stream].tokens);
    if (site.is_self_attention()) add_identity(maps.back());
  }
  Scores scores = read_relevance(run, stream_rollout(run.graph().graph, found, maps,
                                                     found.read_out.stream, found.read_out.read));
  treat_own_entry(scores.values, row, options.own);
  return scores;
}

}  // namespace

// M = Â[L-1]···Â[start]; only the read-out row of M is needed, so rᵀ ← rᵀ·Â from the last layer
// down.
Scores rollout(Run& run, const RolloutOptions& options) {
  if (options.start >= run.layers()) {
    throw InvalidInput(fmt::format("rollout.start={}: the model has layers 0 to {}", options.start,
                                   run.layers() - 1));
  }
  if (run.several_streams()) return rollout_over_streams(run, options);
  const std::optional<int64_t> row = run.read_out_row();
  std::vector<double> scores = run.read_out();
  for (int layer = run.layers() - 1; layer >= options.start; --layer) {
    scores = times(scores, rollout_factor(run.attention(layer), options, row));
  }
  treat_own_entry(scores, row, options.own);
  return {std::move(scores)};
}

const Method kRollout{
    {.name = "rollout",
     .summary = "product of all attention maps, residual connections as the identity",
     .paper = "Abnar & Zuidema, ACL 2020; discard and fusion: Gildenblat, vit-explain",
     .cost = "1 forward",
     .class_specific = false,
     .is_signed = false,
     .options = {{"start", "first layer of the product", int64_t{0}, {}, 0},
                 {"fusion",
                  "fusion of the heads into one map",
                  std::string("mean"),
                  {"mean", "max", "min"}},
                 {"discard", "fraction of the smallest entries set to 0", 0.0, {}, 0, 1},
                 {"residual", "add the identity of the residual connection", true},
                 {"normalise", "normalise rows to sum 1", true},
                 own_entry_option("keep")},
     .presets = {{"chefer-bert",
                  "the baseline of Chefer et al. for BERT: own score set to 0",
                  {{"own", std::string("zero")}}},
                 {"chefer-vit-eval",
                  "their ViT evaluation: the product starts at the second layer",
                  {{"start", int64_t{1}}}},
                 {"vit-explain",
                  "vit-explain's defaults: max over heads, 90 % discarded",
                  {{"fusion", std::string("max")}, {"discard", 0.9}}}}},
    {.attention = true},
    [](Run& run, const OptionReader& options) {
      return rollout(run, {.start = options.whole("start"),
                           .fusion = head_fusion_named(options.word("fusion")),
                           .discard = options.number("discard"),
                           .residual = options.flag("residual"),
                           .normalise = options.flag("normalise"),
                           .own = own_entry_named(options.word("own"))});
    }};

}  // namespace whyformer
