// A graph with what its inputs get.
#pragma once

#include <memory>

#include "models/model_graph.h"

namespace whyformer {

struct Run {
  std::shared_ptr<const ModelGraph> graph;
  Feeds feeds;
};

}  // namespace whyformer
