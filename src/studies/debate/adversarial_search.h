// The search for attention that is far from the observed one and gives nearly the same answer.
#pragma once

#include <functional>
#include <vector>

#include "studies/debate/attention_tail.h"
#include "studies/debate/debate_part.h"

namespace whyformer {

// torch.optim.Adam with amsgrad, over numbers of one kind.
class AmsGrad {
 public:
  explicit AmsGrad(size_t count, double learning_rate, double weight_decay = 0)
      : learning_rate_(learning_rate),
        weight_decay_(weight_decay),
        mean_(count, 0.0),
        square_(count, 0.0),
        largest_(count, 0.0) {}
  void step(std::span<double> numbers, std::span<const double> gradient);

 private:
  double learning_rate_, weight_decay_;
  std::vector<double> mean_, square_, largest_;
  int64_t steps_ = 0;
};

// A row of a map whose weights may move: they keep their sum.
struct FreeRow {
  int64_t first = 0;                  // place of the row in the map
  std::vector<int64_t> keys = {};     // places in the row
  std::vector<double> observed = {};  // their weights, divided by their sum
  double sum = 0;
};

// Rows that move together, in one model.
struct SearchProblem {
  const AttentionTail* tail = nullptr;
  std::vector<double> base;         // the map that the search leaves, as tail->observed()
  std::vector<double> answer = {};  // the probabilities that it should keep
  std::vector<FreeRow> rows = {};
  AnswerDistance distance;
};

// Weights of one candidate: softmax of its logits in every free row.
struct SearchCandidate {
  std::vector<std::vector<double>> logits = {};  // by row
};

// The furthest candidate whose answer changes by at most epsilon.
struct FurthestAttention {
  double jsd = 0;  // mean over the free rows; 0: the observed attention itself
  double tvd = 0;
  std::vector<std::vector<double>> weights = {};  // by row; empty: the observed ones
};

struct SearchResult {
  std::vector<FurthestAttention> best = {};  // by epsilon, of all iterates
  double last_jsd = 0;                       // of the last iterates at the largest epsilon
};

// Σ_k [−JSD(α_k, α) + 500 max(0, TVD − ε)] − mean over all pairs (k, k') of JSD(α_k, α_k'), and its
// gradient with respect to the logits: dZ = P ⊙ (G − ⟨G, P⟩).
struct SearchLoss {
  double value = 0;
  std::vector<std::vector<std::vector<double>>> gradient = {};  // [candidate][row][key]
};
SearchLoss search_loss(const SearchProblem& problem, const std::vector<SearchCandidate>& candidates,
                       double epsilon);

// What was found before is kept where nothing goes further: more starts never make less of it.
// Several problems of one tail are searched together, which changes none of them.
void search_from(const std::vector<SearchProblem>& problems,
                 std::vector<std::vector<SearchCandidate>> starts,
                 const AdversarySettings& settings, std::vector<SearchResult>& results);

// `random` draws starts; one candidate of each restart starts near the observed weights.
std::vector<SearchResult> search(const std::vector<SearchProblem>& problems,
                                 const std::vector<CounterRandom>& random,
                                 const AdversarySettings& settings);

}  // namespace whyformer
