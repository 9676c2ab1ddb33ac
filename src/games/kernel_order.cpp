#include "games/kernel_order.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "base/numpy_random.h"

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

// By level, in the order of the rows. Coalitions of half the players stand alone: their complements are drawn on their own.
std::vector<std::vector<RowGroup>> groups_by_level(const KernelCoalitions& planned) {
  const auto players = static_cast<int64_t>(planned.rows.front().size()), rows = static_cast<int64_t>(planned.rows.size());
  std::vector<std::vector<RowGroup>> levels(players / 2);
  for (int64_t row = 0; row < rows;) {
    const int64_t level = level_of(planned.rows[row]);
    const bool paired = 2 * (level + 1) != players && row + 1 < rows && row + 1 != planned.enumerated() &&
                        are_complements(planned.rows[row], planned.rows[row + 1]);
    levels[level].push_back({row, paired ? 2 : 1});
    row += levels[level].back().size;
  }
  return levels;
}

// Enumerated sizes come in lexicographic order, the first players first: no fair sample unless shuffled.
void shuffle_enumerated(const KernelCoalitions& planned, uint32_t seed, std::vector<std::vector<RowGroup>>& levels) {
  NumpyRandom random(seed);
  for (std::vector<RowGroup>& groups : levels) {
    if (groups.empty() || groups.front().first >= planned.enumerated()) continue;
    std::vector<RowGroup> shuffled;
    for (const int64_t at : random.permutation(static_cast<int64_t>(groups.size()))) shuffled.push_back(groups[at]);
    groups = std::move(shuffled);
  }
}

// Sainte-Laguë: whenever one stops, each level has its share, as far as there is enough of it.
std::vector<int64_t> merged_by_weight(const std::vector<std::vector<RowGroup>>& levels, const std::vector<double>& weights) {
  using Next = std::tuple<double, int64_t, size_t>;  // how much a level lacks, the outer ones first, and its next group
  std::priority_queue<Next> queue;
  std::vector<int64_t> taken(levels.size(), 0), order;
  const auto push = [&](size_t level, size_t group) {
    if (group == levels[level].size()) return;
    const auto rows = static_cast<double>(2 * taken[level] + levels[level][group].size);
    queue.emplace(weights[level] / rows, -static_cast<int64_t>(level), group);
  };
  for (size_t level = 0; level < levels.size(); ++level) push(level, 0);
  while (!queue.empty()) {
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

}  // namespace

std::vector<int64_t> asking_order(const KernelCoalitions& planned, uint32_t seed) {
  std::vector<std::vector<RowGroup>> levels = groups_by_level(planned);
  shuffle_enumerated(planned, seed, levels);
  return merged_by_weight(levels, kernel_size_weights(static_cast<int64_t>(planned.rows.front().size())));
}

std::vector<int64_t> enumerated_first(const KernelCoalitions& planned, uint32_t seed) {
  std::vector<int64_t> order = asking_order(planned, seed);
  const auto drawn = std::stable_partition(order.begin(), order.end(), [&](int64_t row) { return row < planned.enumerated(); });
  std::sort(drawn, order.end());
  return order;
}

KernelBeginning beginning_of(const KernelCoalitions& planned, const std::vector<int64_t>& order, int64_t count) {
  const std::vector<std::vector<RowGroup>> levels = groups_by_level(planned);
  const std::vector<double> weights = kernel_size_weights(static_cast<int64_t>(planned.rows.front().size()));
  std::vector<bool> known(planned.rows.size(), false);
  for (int64_t i = 0; i < count; ++i) known[order[i]] = true;
  const auto is_known = [&](const RowGroup& group) { return known[group.first] && known[group.first + group.size - 1]; };
  KernelBeginning result;
  KernelCoalitions& some = result.coalitions;
  const auto add_row = [&](int64_t row) {
    some.rows.push_back(planned.rows[row]);
    result.rows.push_back(row);
  };
  std::vector<size_t> partly;
  for (size_t level = 0; level < levels.size(); ++level) {
    const bool enumerated = !levels[level].empty() && levels[level].front().first < planned.enumerated();
    if (!enumerated || !std::ranges::all_of(levels[level], is_known)) {
      partly.push_back(level);
      some.drawn_weight += weights[level];
      continue;
    }
    for (const RowGroup& group : levels[level]) {
      for (int64_t row = group.first; row < group.first + group.size; ++row) {
        add_row(row);
        some.enumerated_weights.push_back(planned.enumerated_weights[row]);
      }
    }
  }
  // One level after the other, so that the blocks of the jackknife have their share of each.
  for (const size_t level : partly) {
    std::vector<RowGroup> groups;
    std::ranges::copy_if(levels[level], std::back_inserter(groups), is_known);
    int64_t rows = 0;
    for (const RowGroup& group : groups) rows += group.size;
    for (const RowGroup& group : groups) {
      for (int64_t row = group.first; row < group.first + group.size; ++row) {
        some.draws.push_back(static_cast<int64_t>(some.rows.size()));
        some.draw_weights.push_back(weights[level] / static_cast<double>(rows));
        some.pairs.push_back(some.pair_count);
        add_row(row);
      }
      ++some.pair_count;
    }
  }
  return result;
}

}  // namespace whyformer
