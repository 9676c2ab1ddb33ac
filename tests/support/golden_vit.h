// A pre-norm vision network of tests/golden/relevance as a graph.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "discovery/attention_sites.h"
#include "formats/weights.h"
#include "graph/pass.h"

namespace whyformer {

struct GoldenVit {
  Graph graph;
  Feeds feeds;
  Value pixels;        // [1, 3, rows, columns]
  Value layers_input;  // [1, tokens, width]
  Value output;        // [1, classes]
  Discovery found;

  GoldenVit(const StoredTensors& weights, const nlohmann::json& config, DType dtype);
};

}  // namespace whyformer
