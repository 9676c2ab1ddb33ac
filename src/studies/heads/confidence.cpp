#include <algorithm>
#include <cmath>

#include "studies/heads/head_measure.h"

namespace whyformer {
namespace {

// A number of one attention row, looking only at the tokens that count.
using OfRow = double (*)(std::span<const double> row, const std::vector<bool>& counts);

double largest(std::span<const double> row, const std::vector<bool>& counts) {
  double most = 0;
  for (size_t key = 0; key < row.size(); ++key) {
    if (counts[key]) most = std::max(most, row[key]);
  }
  return most;
}

double entropy(std::span<const double> row, const std::vector<bool>&) {
  double sum = 0;
  for (const double weight : row) {
    if (weight > 0) sum -= weight * std::log(weight);
  }
  return sum;
}

// Mean over the queries of all texts.
class MeanOverQueries final : public HeadMeasure {
 public:
  MeanOverQueries(OfRow of_row, bool all_tokens) : of_row_(of_row), all_tokens_(all_tokens) {}

  std::unique_ptr<HeadMeasure> copy() const override {
    return std::make_unique<MeanOverQueries>(*this);
  }

  void add(HeadRun& run) override {
    if (sums_.empty()) sums_ = zero_grid(run.explained());
    std::vector<bool> counts = run.explained().input().special();
    for (size_t token = 0; token < counts.size(); ++token) {
      counts[token] = all_tokens_ || !counts[token];
    }
    for (size_t layer = 0; layer < sums_.size(); ++layer) {
      add_layer(run.explained().attention(static_cast<int>(layer)), counts, sums_[layer]);
    }
    queries_ += std::count(counts.begin(), counts.end(), true);
  }

  HeadGrid scores() const override {
    HeadGrid grid = sums_;
    for (std::vector<double>& layer : grid) {
      for (double& score : layer) score /= static_cast<double>(std::max<int64_t>(1, queries_));
    }
    return grid;
  }

 private:
  void add_layer(const Tensor& maps, const std::vector<bool>& counts, std::vector<double>& sums) {
    const std::vector<double> weights = maps.to_doubles();
    const auto keys = static_cast<size_t>(maps.dim(2));
    for (size_t head = 0; head < sums.size(); ++head) {
      for (size_t query = 0; query < counts.size(); ++query) {
        if (!counts[query]) continue;
        const size_t at = (head * counts.size() + query) * keys;
        sums[head] += of_row_({weights.data() + at, keys}, counts);
      }
    }
  }

  OfRow of_row_;
  bool all_tokens_;
  HeadGrid sums_;
  int64_t queries_ = 0;
};

}  // namespace

const HeadMeasureEntry kConfidence{
    {.name = "confidence",
     .summary = "mean of the largest attention weight of each token, special tokens left out",
     .paper = "Voita et al., ACL 2019",
     .cost = "1 forward"},
    {.attention = true},
    AnswerNeeds::kNothing,
    [](const HeadsRequest& request) { return Options{{"all-tokens", request.all_tokens}}; },
    [](const HeadsRequest& request) -> std::unique_ptr<HeadMeasure> {
      return std::make_unique<MeanOverQueries>(largest, request.all_tokens);
    }};

const HeadMeasureEntry kEntropy{
    {.name = "entropy",
     .summary = "mean entropy of the attention rows, in nats: the lower, the more focused",
     .paper = "Clark et al., BlackboxNLP 2019",
     .cost = "1 forward"},
    {.attention = true},
    AnswerNeeds::kNothing,
    [](const HeadsRequest&) { return Options{}; },
    [](const HeadsRequest&) -> std::unique_ptr<HeadMeasure> {
      return std::make_unique<MeanOverQueries>(entropy, true);
    }};

}  // namespace whyformer
