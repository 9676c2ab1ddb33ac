#include "evaluate/random_subsets.h"

#include <algorithm>

#include "base/random.h"
#include "whyformer/agreement.h"

namespace whyformer {
namespace {

SubsetDrop drop_of(const Evidence& evidence, const HiddenAnswers::Hidden& subset) {
  SubsetDrop drop{.drop = evidence.drop(subset)};
  for (size_t i = 0; i < subset.size(); ++i) {
    if (subset[i]) drop.promised += evidence.scores[i];
  }
  return drop;
}

}  // namespace

std::vector<SubsetDrop> drops_over_subsets(const Evidence& evidence, int64_t size, int64_t count) {
  std::vector<SubsetDrop> drops;
  for (int64_t number = 0; number < count; ++number) {
    drops.push_back(
        drop_of(evidence, random_subset(evidence.answers.players(), size, evidence.seed, number)));
  }
  return drops;
}

std::vector<SubsetDrop> drops_over_all_sizes(const Evidence& evidence, int64_t count) {
  const int64_t players = evidence.answers.players();
  const CounterRandom sizes(evidence.seed, "subset-size", 0);
  std::vector<SubsetDrop> drops;
  for (int64_t number = 0; number < count; ++number) {
    const auto drawn = static_cast<int64_t>(sizes.uniform(number) * static_cast<double>(players));
    const int64_t size = 1 + std::min(drawn, players - 1);
    drops.push_back(drop_of(evidence, random_subset(players, size, evidence.seed, number)));
  }
  return drops;
}

std::optional<double> correlation_over_subsets(const Evidence& evidence, int64_t size,
                                               int64_t count) {
  std::vector<double> promised, drops;
  for (const SubsetDrop& one : drops_over_subsets(evidence, size, count)) {
    promised.push_back(one.promised);
    drops.push_back(one.drop);
  }
  return pearson(promised, drops);
}

double mean_squared_error(std::span<const SubsetDrop> drops, double scale) {
  double sum = 0;
  for (const SubsetDrop& one : drops) {
    const double difference = scale * one.promised - one.drop;
    sum += difference * difference;
  }
  return sum / static_cast<double>(drops.size());
}

std::optional<double> best_scale(std::span<const SubsetDrop> drops) {
  double products = 0, squares = 0;
  for (const SubsetDrop& one : drops) {
    products += one.promised * one.drop;
    squares += one.promised * one.promised;
  }
  if (squares == 0) return std::nullopt;
  return products / squares;
}

}  // namespace whyformer
