#pragma once

#include <cstdint>
#include <vector>

#include "whyformer/games.h"

namespace whyformer {

// More evaluations than anybody waits for.
inline constexpr int64_t kEndless = int64_t{1} << 60;

// A checked tree of players, with its players from left to right, so that every node holds a run of
// them.
class TreeLayout {
 public:
  // Throws InvalidInput where not every player and every merge but the last hangs below exactly one
  // merge.
  TreeLayout(const PlayerTree& tree, int64_t players);

  int64_t nodes() const { return static_cast<int64_t>(size_.size()); }
  int64_t root() const { return nodes() - 1; }
  bool is_player(int64_t node) const { return node < players_; }
  int64_t left(int64_t node) const { return merges_[node - players_].left; }
  int64_t right(int64_t node) const { return merges_[node - players_].right; }
  int64_t size(int64_t node) const { return size_[node]; }  // players below it

  void set(int64_t node, bool visible, Coalition& coalition) const;
  // Coalitions that Owen values need: both ends, and two for each context of each merge. At most
  // kEndless.
  int64_t owen_evaluations() const;

 private:
  int64_t players_;
  std::vector<PlayerTree::Merge> merges_;
  std::vector<int64_t> size_, first_;  // by node; `first_` counts in order_
  std::vector<int64_t> order_;         // players from left to right
};

}  // namespace whyformer
