#include "games/tree_order.h"

namespace whyformer {

std::vector<int64_t> random_tree_order(const TreeLayout& tree, NumpyRandom& random) {
  std::vector<int64_t> order, waiting;
  if (tree.nodes() > 0) waiting.push_back(tree.root());
  while (!waiting.empty()) {
    const int64_t node = waiting.back();
    waiting.pop_back();
    if (tree.is_player(node)) {
      order.push_back(node);
      continue;
    }
    const bool left_first = random.normal() < 0;
    waiting.push_back(left_first ? tree.right(node) : tree.left(node));
    waiting.push_back(left_first ? tree.left(node) : tree.right(node));
  }
  return order;
}

}  // namespace whyformer
