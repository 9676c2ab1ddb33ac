// The weights of a graph, layer by layer, and graphs with others in their place.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "discovery/layer_steps.h"
#include "graph/held_weights.h"
#include "models/model_graph.h"

namespace whyformer {

// Weights of one node: a constant's one tensor, or all that an operator holds.
struct NodeWeights {
  int node = 0;
  int step = 0;
  // The node's name, with a number where several nodes of that name have weights of their own: the
  // same in graphs for other shapes.
  std::string place;
  std::vector<HeldWeight> weights;
};

// Weights are
// * what linear layers, convolutions, norms and embeddings hold;
// * constants of floating-point numbers that what is explained is multiplied with as matrices,
//   picked from or joined to (learned tokens), or that are added to it (position tables);
// * constants along one axis that it is multiplied with, element by element.
// Constants of two different numbers at most are masks, and tensors of one number are scales:
// neither counts. What a product takes element by element along several axes is a mask or the
// rotation of positions, and does not count either.
class ModelWeights {
 public:
  // Throws UnsupportedModel where weights are rounded to whole numbers together with what they
  // meet.
  explicit ModelWeights(const ModelGraph& model);

  const std::vector<NodeWeights>& all() const { return all_; }
  // "head", "layer L-1", …, "layer 0", "embeddings": see find_layer_steps.
  std::vector<std::string> step_names() const;
  // How many numbers each step has; 0 for one that has no weights.
  std::vector<int64_t> step_sizes() const;

 private:
  std::vector<NodeWeights> all_;
  LayerSteps steps_;
};

// New weights for the graphs of one model. A matrix is drawn from N(0, 0.02²), a bias is 0 and the
// weight of a norm is 1, as BERT starts. Draws depend on the seed and on the weight's place alone,
// so that graphs for other shapes, types and steps get the same. Those of one seed are kept. Safe
// to use from several threads.
class RandomWeights {
 public:
  // The graph with some weights replaced; values keep their ids.
  Graph in_place_of(const ModelGraph& model, const Randomisation& how);

 private:
  std::shared_ptr<const Op> drawn(const Op& own, const NodeWeights& weights, int64_t seed);

  std::mutex mutex_;
  int64_t seed_ = 0;
  std::map<std::string, std::shared_ptr<const Op>, std::less<>> kept_;
};

}  // namespace whyformer
