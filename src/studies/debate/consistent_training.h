// A model whose last layer asks for other tokens and that gives the same answers: queries and keys
// of the last layer and the classifier are trained, all else stays.
#pragma once

#include <vector>

#include "ops/linear_weights.h"
#include "studies/debate/debate_part.h"

namespace whyformer {

// y = x·Wᵀ + b, trained; of a larger Linear some features.
struct TrainedLinear {
  int64_t in = 0, out = 0;
  std::vector<double> numbers;  // W [out, in], then b [out]

  explicit TrainedLinear(const LinearWeights& weights);
  TrainedLinear(const LinearWeights& weights, const std::vector<int64_t>& features);
  std::vector<float> apply(const std::vector<float>& rows) const;
};

struct TrainedParts {
  TrainedLinear query, key, classifier;
};

// Where the queries or keys come out of a projection that may make other things, too.
struct ProjectedPart {
  int projection = -1;                 // the Linear's node
  Value value = {};                    // what only queries, or only keys, are made of
  std::vector<int64_t> features = {};  // of the projection, that it consists of
  std::vector<int64_t> from = {};      // for each number of it, the place in [rows, features]
  int64_t numbers = 0;                 // of [rows, features]
  std::vector<float> inputs = {};      // what the projection reads
};

// What one input needs: everything that training leaves as it is was computed once.
struct ConsistentExample {
  std::shared_ptr<const ModelGraph> graph = {};
  Feeds feeds = {};
  ProjectedPart query = {}, key = {};
  Value map = {};     // the last layer's, as far as the output reads it
  Value pooled = {};  // what the classifier reads
  int64_t row = 0;    // of the map
  std::vector<double> probabilities = {};
  std::vector<std::vector<double>> attention = {};  // [head][key] of the row
  std::vector<int64_t> compared = {};
};

// Throws InvalidInput where the projections or the classifier were not recognised.
ConsistentExample consistent_example(const DebateRun& run);
TrainedParts trained_parts(const ConsistentExample& example);

struct ConsistentState {
  std::vector<double> probabilities = {};
  std::vector<std::vector<double>> attention = {};  // [head][key]
};
ConsistentState state_of(const ConsistentExample& example, const TrainedParts& parts,
                         Problem problem);

// Mean over the batch of TVD(p, p') − λ KL(α' ‖ α), mean over heads, with its gradient in the order
// query, key, classifier.
struct ConsistentLoss {
  double value = 0;
  std::vector<double> query, key, classifier = {};
};
ConsistentLoss consistent_loss(const std::vector<const ConsistentExample*>& batch,
                               const TrainedParts& parts, const AnswerDistance& distance,
                               double lambda);

}  // namespace whyformer
