#include "games/kernel_coalitions.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "base/numpy_random.h"
#include "base/pulse.h"

namespace whyformer {
namespace {

double binomial(int64_t n, int64_t k) {
  double product = 1;
  for (int64_t i = 1; i <= k; ++i)
    product = product * static_cast<double>(n - k + i) / static_cast<double>(i);
  return product;
}

Coalition complement(Coalition coalition) {
  coalition.flip();
  return coalition;
}

// Sizes 1.. up to the middle; `paired` of them have another size as their complement.
struct Sizes {
  explicit Sizes(int64_t players) : paired((players - 1) / 2), weights(players / 2) {
    for (size_t i = 0; i < weights.size(); ++i) {
      const double size = static_cast<double>(i + 1), all = static_cast<double>(players);
      weights[i] =
          (all - 1) / (size * (all - size)) * (is_paired(static_cast<int64_t>(i) + 1) ? 2 : 1);
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= sum;
  }

  bool is_paired(int64_t size) const { return size <= paired; }

  int64_t paired;
  std::vector<double> weights;
};

class Drawing {
 public:
  Drawing(int64_t players, int64_t samples, uint32_t seed)
      : players_(players),
        sizes_(players),
        enumerated_(enumerated_sizes(players, samples)),
        left_(samples),
        random_(seed) {
    for (const EnumeratedSize& size : enumerated_) left_ -= size.rows();
  }

  KernelCoalitions run() {
    for (const EnumeratedSize& size : enumerated_) enumerate(size);
    draw_up_to(std::numeric_limits<int64_t>::max());
    return std::move(result_);
  }

  std::vector<Coalition> first_draws(int64_t rows) {
    draw_up_to(rows);
    return std::move(result_.rows);
  }

 private:
  // All subsets in lexicographic order, each followed by its complement where that has another
  // size.
  void enumerate(const EnumeratedSize& which) {
    std::vector<int64_t> members(which.size);
    std::iota(members.begin(), members.end(), 0);
    while (true) {
      pulse();
      Coalition coalition(players_);
      for (const int64_t member : members) coalition[member] = true;
      add_enumerated(coalition, which.row_weight);
      if (which.paired) add_enumerated(complement(std::move(coalition)), which.row_weight);
      int64_t at = which.size - 1;
      while (at >= 0 && members[at] == players_ - which.size + at) --at;
      if (at < 0) return;
      std::iota(members.begin() + at, members.end(), members[at] + 1);
    }
  }

  void add_enumerated(Coalition coalition, double weight) {
    result_.rows.push_back(std::move(coalition));
    result_.enumerated_weights.push_back(weight);
  }

  // In shap's stream the sizes of all draws come first, four for each coalition, then the members
  // of one draw after the other.
  void draw_up_to(int64_t rows) {
    const auto full = static_cast<int64_t>(enumerated_.size());
    if (full == static_cast<int64_t>(sizes_.weights.size())) return;
    std::vector<double> cumulative;
    double sum = 0;
    for (size_t i = full; i < sizes_.weights.size(); ++i) {
      result_.drawn_weight += sizes_.weights[i];
      // A draw of a paired size gives two coalitions.
      sum += sizes_.weights[i] / (sizes_.is_paired(static_cast<int64_t>(i) + 1) ? 2 : 1);
      cumulative.push_back(sum);
    }
    const int64_t max_draws = 4 * left_;
    NumpyRandom random_sizes = random_;
    random_.skip_uniforms(max_draws);
    for (int64_t i = 0; i < max_draws && left_ > 0 && result_.drawn() + 2 <= rows; ++i) {
      pulse();
      draw(full + 1 + random_sizes.choose(cumulative));
    }
  }

  // A coalition that was drawn before counts once more. One that was only added as a complement is
  // not recognised: shap's rule, and harmless.
  void draw(int64_t size) {
    const std::vector<int64_t> order = random_.permutation(players_);
    Coalition coalition(players_);
    for (int64_t i = 0; i < size; ++i) coalition[order[i]] = true;
    const auto [seen, is_new] =
        first_draws_.try_emplace(coalition, static_cast<int64_t>(result_.rows.size()));
    const int64_t row = seen->second;
    if (is_new) add_drawn(coalition, result_.pair_count++);
    result_.draws.push_back(row);
    if (left_ == 0 || !sizes_.is_paired(size)) return;
    if (is_new) add_drawn(complement(std::move(coalition)), result_.pair_count - 1);
    result_.draws.push_back(row + 1);
  }

  void add_drawn(Coalition coalition, int64_t pair) {
    result_.rows.push_back(std::move(coalition));
    result_.pairs.push_back(pair);
    --left_;
  }

  int64_t players_;
  Sizes sizes_;
  std::vector<EnumeratedSize> enumerated_;
  int64_t left_;
  NumpyRandom random_;
  std::unordered_map<Coalition, int64_t> first_draws_;
  KernelCoalitions result_;
};

}  // namespace

std::vector<double> kernel_size_weights(int64_t players) { return Sizes(players).weights; }

// As many of the outer sizes as the budget would reach anyway.
std::vector<EnumeratedSize> enumerated_sizes(int64_t players, int64_t samples) {
  const Sizes sizes(players);
  std::vector<double> rest = sizes.weights;
  std::vector<EnumeratedSize> found;
  int64_t left = samples;
  for (size_t i = 0; i < rest.size(); ++i) {
    const int64_t size = static_cast<int64_t>(i) + 1;
    const bool paired = sizes.is_paired(size);
    const double subsets = binomial(players, size), rows = subsets * (paired ? 2 : 1);
    if (static_cast<double>(left) * rest[i] / rows < 1 - 1e-8) break;
    left -= static_cast<int64_t>(rows);
    if (const double share = rest[i]; share < 1) {
      for (double& weight : rest) weight /= 1 - share;
    }
    found.push_back({.size = size,
                     .subsets = static_cast<int64_t>(subsets),
                     .paired = paired,
                     .row_weight = sizes.weights[i] / subsets / (paired ? 2 : 1)});
  }
  return found;
}

Coalition subset_at(int64_t place, int64_t size, int64_t players) {
  Coalition subset(players);
  for (int64_t player = 0; size > 0; ++player) {
    const auto with_player = static_cast<int64_t>(binomial(players - player - 1, size - 1));
    subset[player] = place < with_player;
    if (subset[player])
      --size;
    else
      place -= with_player;
  }
  return subset;
}

std::vector<Coalition> first_draws(int64_t players, int64_t samples, uint32_t seed, int64_t rows) {
  return Drawing(players, samples, seed).first_draws(rows);
}

KernelCoalitions kernel_coalitions(int64_t players, int64_t samples, uint32_t seed) {
  return Drawing(players, samples, seed).run();
}

int64_t proper_coalitions(int64_t players) {
  return players <= 30 ? (int64_t{1} << players) - 2 : int64_t{1} << 30;
}

}  // namespace whyformer
