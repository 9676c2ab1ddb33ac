#include "games/tree_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "whyformer/error.h"

namespace whyformer {

TreeLayout::TreeLayout(const PlayerTree& tree, int64_t players)
    : players_(players), merges_(tree.merges) {
  const auto merges = static_cast<int64_t>(merges_.size());
  if (merges != std::max<int64_t>(0, players - 1)) {
    throw InvalidInput(fmt::format("A tree over {} players needs {} merges but has {}", players,
                                   std::max<int64_t>(0, players - 1), merges));
  }
  size_.assign(players, 1);
  std::vector<bool> has_parent(players + merges, false);
  for (int64_t merge = 0; merge < merges; ++merge) {
    for (const int64_t child : {merges_[merge].left, merges_[merge].right}) {
      if (child < 0 || child >= players + merge || has_parent[child]) {
        throw InvalidInput(fmt::format(
            "Merge {} of a tree over {} players joins node {}, which is {}; join every "
            "player and every earlier merge once",
            merge, players, child,
            child < 0 || child >= players + merge ? "not there yet" : "joined already"));
      }
      has_parent[child] = true;
    }
    size_.push_back(size_[merges_[merge].left] + size_[merges_[merge].right]);
  }
  first_.assign(nodes(), 0);
  for (int64_t node = root(); node >= players; --node) {
    first_[left(node)] = first_[node];
    first_[right(node)] = first_[node] + size_[left(node)];
  }
  order_.resize(players);
  for (int64_t player = 0; player < players; ++player) order_[first_[player]] = player;
}

void TreeLayout::set(int64_t node, bool visible, Coalition& coalition) const {
  for (int64_t at = first_[node]; at < first_[node] + size_[node]; ++at)
    coalition[order_[at]] = visible;
}

int64_t TreeLayout::owen_evaluations() const {
  std::vector<int64_t> contexts(nodes(), 1);
  int64_t needed = 2;
  for (int64_t node = root(); node >= players_; --node) {
    needed = std::min(kEndless, needed + 2 * contexts[node]);
    contexts[left(node)] = contexts[right(node)] = std::min(kEndless, 2 * contexts[node]);
  }
  return needed;
}

}  // namespace whyformer
