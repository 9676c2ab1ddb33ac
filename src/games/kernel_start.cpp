#include "games/kernel_start.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "base/numpy_random.h"
#include "games/kernel_order.h"

namespace whyformer {
namespace {

// So many of the numbers below `count`, each as likely as any other, in random order.
std::vector<int64_t> some_below(int64_t count, int64_t wanted, NumpyRandom& random) {
  if (2 * wanted >= count) {
    std::vector<int64_t> some = random.permutation(count);
    some.resize(std::min(wanted, count));
    return some;
  }
  std::unordered_set<int64_t> seen;
  std::vector<int64_t> some;
  while (static_cast<int64_t>(some.size()) < wanted) {
    const int64_t number = random.up_to(count - 1);
    if (seen.insert(number).second) some.push_back(number);
  }
  return some;
}

class StartMaker {
 public:
  StartMaker(int64_t players, uint32_t seed, int64_t rows)
      : players_(players), wanted_(rows), random_(seed) {}

  // Those that are complete come first: only they have weights of their own.
  void add_enumerated(const std::vector<EnumeratedSize>& sizes) {
    std::vector<std::vector<int64_t>> places;
    for (const EnumeratedSize& size : sizes)
      places.push_back(some_below(size.subsets, share_of(size), random_));
    for (const bool complete : {true, false}) {
      int64_t first_row = 0;
      for (size_t i = 0; i < sizes.size(); first_row += sizes[i++].rows()) {
        const bool has_all = static_cast<int64_t>(places[i].size()) == sizes[i].subsets;
        if (has_all == complete) add_subsets(sizes[i], places[i], first_row);
        if (has_all && complete)
          start_.coalitions.enumerated_weights.resize(start_.rows(), sizes[i].row_weight);
      }
    }
  }

  void add_drawn(std::vector<Coalition> rows, int64_t first_row) {
    start_.drawn = static_cast<int64_t>(rows.size());
    for (Coalition& row : rows) add_row(std::move(row), first_row++);
  }

  KernelStart take() { return std::move(start_); }

 private:
  int64_t share_of(const EnumeratedSize& size) const {
    const double share = size.row_weight * static_cast<double>(size.rows() * wanted_);
    return std::min(size.subsets, static_cast<int64_t>(std::ceil(size.paired ? share / 2 : share)));
  }

  void add_subsets(const EnumeratedSize& size, const std::vector<int64_t>& places,
                   int64_t first_row) {
    for (const int64_t place : places) {
      Coalition subset = subset_at(place, size.size, players_);
      const int64_t row = first_row + place * (size.paired ? 2 : 1);
      add_row(subset, row);
      subset.flip();
      if (size.paired) add_row(std::move(subset), row + 1);
    }
  }

  void add_row(Coalition coalition, int64_t plan_row) {
    start_.coalitions.rows.push_back(std::move(coalition));
    start_.plan_rows.push_back(plan_row);
  }

  int64_t players_, wanted_;
  NumpyRandom random_;
  KernelStart start_;
};

}  // namespace

KernelStart kernel_start(int64_t players, int64_t samples, uint32_t seed, int64_t most_drawn) {
  // Enough for an estimate of all players, and drawn in a few hundredths of a second.
  const int64_t rows = std::max<int64_t>(4096, 4 * players);
  if (samples < 4 * rows) return {};
  const std::vector<EnumeratedSize> sizes = enumerated_sizes(players, samples);
  StartMaker maker(players, seed, rows);
  maker.add_enumerated(sizes);
  int64_t enumerated = 0;
  double weight_left = 1;
  for (const EnumeratedSize& size : sizes) {
    enumerated += size.rows();
    weight_left -= size.row_weight * static_cast<double>(size.rows());
  }
  if (enumerated < samples) {
    const auto share = static_cast<int64_t>(std::ceil(weight_left * static_cast<double>(rows)));
    maker.add_drawn(first_draws(players, samples, seed, std::min(share, most_drawn)), enumerated);
  }
  KernelStart start = maker.take();
  start.order = asking_order(start.coalitions, seed);
  return start;
}

}  // namespace whyformer
