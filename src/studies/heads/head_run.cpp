#include "graph/walk_back.h"
#include "studies/heads/head_measure.h"

namespace whyformer {
namespace {

// Σ over keys of A ⊙ ∂loss/∂A. It is context · ∂loss/∂context, for the context is linear in A.
Tensor sums_over_keys(const Tensor& attention, const Tensor& gradient) {
  const int64_t keys = attention.dim(-1);
  const std::vector<double> a = attention.to_doubles();
  const std::vector<double> g = gradient.to_doubles();
  Tensor sums = Tensor::zeros({attention.dim(0), attention.dim(1)}, DType::kFloat64);
  for (size_t i = 0; i < a.size(); ++i) {
    sums.mutable_data<double>()[static_cast<int64_t>(i) / keys] += a[i] * g[i];
  }
  return sums;
}

}  // namespace

const std::vector<Tensor>& HeadRun::mask_gradients() {
  if (!mask_gradients_.empty()) return mask_gradients_;
  const ModelGraph& graph = explained_.graph();
  std::vector<Value> maps;
  for (const AttentionSite& site : graph.found.sites) maps.push_back(site.attention);
  const std::vector<double> slopes = loss_gradient(*problem_, explained_.outputs(), label_);
  const Tensor seed =
      Tensor::of<double>(graph.graph.shape(graph.output), std::span<const double>(slopes))
          .cast(explained_.pass()[graph.output].dtype());
  const auto gradients =
      walk_back(graph.graph, explained_.pass(), graph.output, seed, gradient_rule(), maps);
  for (const Value map : maps) {
    mask_gradients_.push_back(
        sums_over_keys(explained_.pass()[map].select(0, 0), gradients.at(map).select(0, 0)));
  }
  return mask_gradients_;
}

HeadGrid zero_grid(const Run& explained) {
  HeadGrid grid;
  for (const AttentionSite& site : explained.found().sites) grid.emplace_back(site.heads, 0.0);
  return grid;
}

}  // namespace whyformer
