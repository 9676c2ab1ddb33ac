// Definitions in plain loops, for tests.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/support/table_game.h"
#include "whyformer/games.h"

namespace whyformer {

// [outputs] of one coalition.
inline std::vector<double> worth(Game& game, const Coalition& coalition) {
  return game.values({coalition});
}

// The mean over all orders of the players of what each adds to those before it.
inline std::vector<double> shapley_by_orders(Game& game) {
  const int64_t players = game.players(), outputs = game.outputs();
  std::vector<int64_t> order(players);
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> sums(players * outputs);
  double orders = 0;
  do {
    Coalition visible(players, false);
    for (const int64_t player : order) {
      const std::vector<double> before = worth(game, visible);
      visible[player] = true;
      const std::vector<double> after = worth(game, visible);
      for (int64_t output = 0; output < outputs; ++output) {
        sums[player * outputs + output] += after[output] - before[output];
      }
    }
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (double& sum : sums) sum /= orders;
  return sums;
}

// Players below a node.
inline std::vector<int64_t> players_below(const PlayerTree& tree, int64_t players, int64_t node) {
  if (node < players) return {node};
  std::vector<int64_t> all = players_below(tree, players, tree.merges[node - players].left);
  for (const int64_t player : players_below(tree, players, tree.merges[node - players].right))
    all.push_back(player);
  return all;
}

// The mean of what a player adds, over all ways in which each sibling of its ancestors is visible
// or hidden.
inline std::vector<double> owen_by_contexts(Game& game, const PlayerTree& tree) {
  const int64_t players = game.players(), outputs = game.outputs();
  std::vector<double> result(players * outputs);
  for (int64_t player = 0; player < players; ++player) {
    std::vector<std::vector<int64_t>> siblings;
    int64_t node = player;
    for (int64_t merge = 0; merge < players - 1; ++merge) {
      const auto [left, right] = tree.merges[merge];
      if (left != node && right != node) continue;
      siblings.push_back(players_below(tree, players, left == node ? right : left));
      node = players + merge;
    }
    const int64_t contexts = int64_t{1} << siblings.size();
    for (int64_t context = 0; context < contexts; ++context) {
      Coalition visible(players, false);
      for (size_t i = 0; i < siblings.size(); ++i) {
        for (const int64_t other : siblings[i]) visible[other] = context >> i & 1;
      }
      const std::vector<double> before = worth(game, visible);
      visible[player] = true;
      const std::vector<double> after = worth(game, visible);
      for (int64_t output = 0; output < outputs; ++output) {
        result[player * outputs + output] +=
            (after[output] - before[output]) / static_cast<double>(contexts);
      }
    }
  }
  return result;
}

}  // namespace whyformer
