#include "run/run.h"

#include <algorithm>

namespace whyformer {

int64_t tokens_in(const ModelGraph& graph, int64_t otherwise) {
  const Shape& shape = graph.graph.shape(graph.embeddings);
  return std::max<int64_t>(1, shape.size() == 3 ? shape[1] : otherwise);
}

int64_t most_inputs_at_once(const ModelGraph& graph, int64_t tokens, int64_t memory_bytes) {
  // Generous guess of what one token keeps alive: hidden states of all layers and attention rows.
  const auto& sites = graph.found.sites;
  const int64_t width = graph.graph.shape(graph.embeddings).back();
  const int64_t heads = sites.empty() ? 1 : sites[0].heads;
  const int64_t per_token =
      4 * (static_cast<int64_t>(sites.size()) + 1) * (20 * width + 3 * heads * tokens);
  const int64_t fitting = memory_bytes / std::max<int64_t>(1, per_token * tokens);
  // Past a thousand rows products gain nothing, and progress should show.
  return std::clamp<int64_t>(fitting, 1, std::max<int64_t>(1, 1024 / tokens));
}

}  // namespace whyformer
