#include "games/kernel_coalitions.h"

#include <algorithm>
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
      : players_(players), sizes_(players), left_(samples), random_(seed) {}

  KernelCoalitions run() {
    const int64_t full = enumerate_sizes();
    if (full < static_cast<int64_t>(sizes_.weights.size())) draw_from(full);
    return std::move(result_);
  }

 private:
  // As many of the outer sizes as the budget would reach anyway. Returns how many.
  int64_t enumerate_sizes() {
    std::vector<double> rest = sizes_.weights;
    for (size_t i = 0; i < rest.size(); ++i) {
      const int64_t size = static_cast<int64_t>(i) + 1;
      const double subsets = binomial(players_, size) * (sizes_.is_paired(size) ? 2 : 1);
      if (static_cast<double>(left_) * rest[i] / subsets < 1 - 1e-8) return static_cast<int64_t>(i);
      left_ -= static_cast<int64_t>(subsets);
      if (const double share = rest[i]; share < 1) {
        for (double& weight : rest) weight /= 1 - share;
      }
      enumerate(size);
    }
    return static_cast<int64_t>(rest.size());
  }

  // All subsets in lexicographic order, each followed by its complement where that has another
  // size.
  void enumerate(int64_t size) {
    const double weight =
        sizes_.weights[size - 1] / binomial(players_, size) / (sizes_.is_paired(size) ? 2 : 1);
    std::vector<int64_t> members(size);
    std::iota(members.begin(), members.end(), 0);
    while (true) {
      pulse();
      Coalition coalition(players_);
      for (const int64_t member : members) coalition[member] = true;
      add_enumerated(coalition, weight);
      if (sizes_.is_paired(size)) add_enumerated(complement(std::move(coalition)), weight);
      int64_t at = size - 1;
      while (at >= 0 && members[at] == players_ - size + at) --at;
      if (at < 0) return;
      std::iota(members.begin() + at, members.end(), members[at] + 1);
    }
  }

  void add_enumerated(Coalition coalition, double weight) {
    result_.rows.push_back(std::move(coalition));
    result_.enumerated_weights.push_back(weight);
  }

  void draw_from(int64_t full) {
    std::vector<double> cumulative;
    double sum = 0;
    for (size_t i = full; i < sizes_.weights.size(); ++i) {
      result_.drawn_weight += sizes_.weights[i];
      // A draw of a paired size gives two coalitions.
      sum += sizes_.weights[i] / (sizes_.is_paired(static_cast<int64_t>(i) + 1) ? 2 : 1);
      cumulative.push_back(sum);
    }
    std::vector<int64_t> drawn_sizes(4 * left_);
    for (int64_t& size : drawn_sizes) {
      pulse();
      size = full + 1 + random_.choose(cumulative);
    }
    for (size_t i = 0; i < drawn_sizes.size() && left_ > 0; ++i) {
      pulse();
      draw(drawn_sizes[i]);
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
  int64_t left_;
  NumpyRandom random_;
  std::unordered_map<Coalition, int64_t> first_draws_;
  KernelCoalitions result_;
};

}  // namespace

std::vector<double> kernel_size_weights(int64_t players) { return Sizes(players).weights; }

KernelCoalitions kernel_coalitions(int64_t players, int64_t samples, uint32_t seed) {
  return Drawing(players, samples, seed).run();
}

int64_t proper_coalitions(int64_t players) {
  return players <= 30 ? (int64_t{1} << players) - 2 : int64_t{1} << 30;
}

}  // namespace whyformer
