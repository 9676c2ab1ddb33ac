#include "evaluate/drawn_scores.h"

#include "base/random.h"

namespace whyformer {

std::vector<double> drawn_scores(int64_t units, int64_t seed, int64_t number) {
  const CounterRandom random(seed, "random-scores", number);
  std::vector<double> scores;
  for (int64_t unit = 0; unit < units; ++unit) scores.push_back(random.uniform(unit) - 0.5);
  return scores;
}

}  // namespace whyformer
