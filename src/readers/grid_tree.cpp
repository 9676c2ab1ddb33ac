#include "whyformer/games.h"

namespace whyformer {
namespace {

struct GridPart {
  int64_t top, left, rows, columns;
};

// The node of the part; its merges come before it.
int64_t add(PlayerTree& tree, const GridPart& part, int64_t all_rows, int64_t all_columns) {
  if (part.rows * part.columns == 1) return part.top * all_columns + part.left;
  GridPart near = part, far = part;
  if (part.rows >= part.columns && part.rows > 1) {
    near.rows = (part.rows + 1) / 2;
    far.top += near.rows;
    far.rows -= near.rows;
  } else {
    near.columns = (part.columns + 1) / 2;
    far.left += near.columns;
    far.columns -= near.columns;
  }
  // The package numbers pixels from the end, so the far part comes first.
  const int64_t left = add(tree, far, all_rows, all_columns);
  const int64_t right = add(tree, near, all_rows, all_columns);
  tree.merges.push_back({left, right});
  return all_rows * all_columns + static_cast<int64_t>(tree.merges.size()) - 1;
}

}  // namespace

PlayerTree grid_tree(int64_t rows, int64_t columns) {
  PlayerTree tree;
  add(tree, {0, 0, rows, columns}, rows, columns);
  return tree;
}

}  // namespace whyformer
