#include "games/kernel_order.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "base/numpy_random.h"
#include "base/pulse.h"

namespace whyformer {
namespace {

// Rows that are asked for together: a coalition and its complement, or one that has none.
struct RowGroup {
  int64_t first;
  int64_t size;
};

// A size and that of its complements, from 0 for single players.
int64_t level_of(const Coalition& coalition) {
  const auto size = std::ranges::count(coalition, true);
  return std::min<int64_t>(size, static_cast<int64_t>(coalition.size()) - size) - 1;
}

bool are_complements(const Coalition& a, const Coalition& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) return false;
  }
  return true;
}

// By level, in the order of the rows. Coalitions of half the players stand alone: their complements
// are drawn on their own.
std::vector<std::vector<RowGroup>> groups_by_level(const KernelCoalitions& planned) {
  const auto players = static_cast<int64_t>(planned.rows.front().size()),
             rows = static_cast<int64_t>(planned.rows.size());
  std::vector<std::vector<RowGroup>> levels(players / 2);
  for (int64_t row = 0; row < rows;) {
    const int64_t level = level_of(planned.rows[row]);
    const bool paired = 2 * (level + 1) != players && row + 1 < rows &&
                        row + 1 != planned.enumerated() &&
                        are_complements(planned.rows[row], planned.rows[row + 1]);
    levels[level].push_back({row, paired ? 2 : 1});
    row += levels[level].back().size;
  }
  return levels;
}

// Enumerated sizes come in lexicographic order, the first players first: no fair sample unless
// shuffled.
void shuffle_enumerated(const KernelCoalitions& planned, uint32_t seed,
                        std::vector<std::vector<RowGroup>>& levels) {
  NumpyRandom random(seed);
  for (std::vector<RowGroup>& groups : levels) {
    if (groups.empty() || groups.front().first >= planned.enumerated()) continue;
    std::vector<RowGroup> shuffled;
    for (const int64_t at : random.permutation(static_cast<int64_t>(groups.size())))
      shuffled.push_back(groups[at]);
    groups = std::move(shuffled);
  }
}

// Sainte-Laguë: whenever one stops, each level has its share, as far as there is enough of it.
std::vector<int64_t> merged_by_weight(const std::vector<std::vector<RowGroup>>& levels,
                                      const std::vector<double>& weights) {
  using Next = std::tuple<double, int64_t, size_t>;  // how much a level lacks, the outer ones
                                                     // first, and its next group
  std::priority_queue<Next> queue;
  std::vector<int64_t> taken(levels.size(), 0), order;
  const auto push = [&](size_t level, size_t group) {
    if (group == levels[level].size()) return;
    const auto rows = static_cast<double>(2 * taken[level] + levels[level][group].size);
    queue.emplace(weights[level] / rows, -static_cast<int64_t>(level), group);
  };
  for (size_t level = 0; level < levels.size(); ++level) push(level, 0);
  while (!queue.empty()) {
    pulse();
    const auto [lack, negative_level, group] = queue.top();
    queue.pop();
    const auto level = static_cast<size_t>(-negative_level);
    const RowGroup& rows = levels[level][group];
    for (int64_t i = 0; i < rows.size; ++i) order.push_back(rows.first + i);
    taken[level] += rows.size;
    push(level, group + 1);
  }
  return order;
}

class BeginningMaker {
 public:
  BeginningMaker(const KernelCoalitions& planned, const std::vector<int64_t>& order, int64_t count)
      : planned_(planned), known_(planned.rows.size(), false) {
    for (int64_t i = 0; i < count; ++i) known_[order[i]] = true;
  }

  KernelBeginning run() {
    const std::vector<std::vector<RowGroup>> levels = groups_by_level(planned_);
    const std::vector<double> weights =
        kernel_size_weights(static_cast<int64_t>(planned_.rows.front().size()));
    for (const std::vector<RowGroup>& groups : levels) {
      if (is_complete(groups)) add_enumerated(groups);
    }
    // One level after the other, so that the blocks of the jackknife have their share of each.
    for (size_t level = 0; level < levels.size(); ++level) {
      if (!is_complete(levels[level])) add_drawn(levels[level], weights[level]);
    }
    return std::move(result_);
  }

 private:
  bool is_known(const RowGroup& group) const {
    return known_[group.first] && known_[group.first + group.size - 1];
  }

  bool is_complete(const std::vector<RowGroup>& groups) const {
    const bool enumerated = !groups.empty() && groups.front().first < planned_.enumerated();
    return enumerated &&
           std::ranges::all_of(groups, [this](const RowGroup& group) { return is_known(group); });
  }

  void add_row(int64_t row) {
    result_.coalitions.rows.push_back(planned_.rows[row]);
    result_.rows.push_back(row);
  }

  void add_enumerated(const std::vector<RowGroup>& groups) {
    for (const RowGroup& group : groups) {
      for (int64_t row = group.first; row < group.first + group.size; ++row) {
        add_row(row);
        result_.coalitions.enumerated_weights.push_back(planned_.enumerated_weights[row]);
      }
    }
  }

  // Those that are known share the weight of their sizes.
  void add_drawn(const std::vector<RowGroup>& groups, double weight) {
    KernelCoalitions& some = result_.coalitions;
    some.drawn_weight += weight;
    const size_t first = some.draws.size();
    for (const RowGroup& group : groups) {
      if (!is_known(group)) continue;
      for (int64_t row = group.first; row < group.first + group.size; ++row) {
        some.draws.push_back(static_cast<int64_t>(some.rows.size()));
        some.pairs.push_back(some.pair_count);
        add_row(row);
      }
      ++some.pair_count;
    }
    some.draw_weights.resize(some.draws.size(),
                             weight / static_cast<double>(some.draws.size() - first));
  }

  const KernelCoalitions& planned_;
  std::vector<bool> known_;
  KernelBeginning result_;
};

}  // namespace

std::vector<int64_t> asking_order(const KernelCoalitions& planned, uint32_t seed) {
  std::vector<std::vector<RowGroup>> levels = groups_by_level(planned);
  shuffle_enumerated(planned, seed, levels);
  return merged_by_weight(levels,
                          kernel_size_weights(static_cast<int64_t>(planned.rows.front().size())));
}

std::vector<int64_t> enumerated_first(const KernelCoalitions& planned, uint32_t seed) {
  std::vector<int64_t> order = asking_order(planned, seed);
  const auto drawn = std::stable_partition(order.begin(), order.end(),
                                           [&](int64_t row) { return row < planned.enumerated(); });
  std::sort(drawn, order.end());
  return order;
}

KernelBeginning beginning_of(const KernelCoalitions& planned, const std::vector<int64_t>& order,
                             int64_t count) {
  return BeginningMaker(planned, order, count).run();
}

}  // namespace whyformer
