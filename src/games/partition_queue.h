// The search of partition_shap: groups wait in a queue by worth and are split as long as the budget
// lasts.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "base/numpy_random.h"
#include "games/asker.h"
#include "games/tree_layout.h"
#include "whyformer/games.h"

namespace whyformer {

class PartitionQueue {
 public:
  // `ends`: the values of everything hidden and everything visible.
  PartitionQueue(Asker& asker, const TreeLayout& tree, const PartitionOptions& options,
                 std::vector<double> ends);

  // [nodes × outputs]: what each node is given. Groups left unsplit keep their worth.
  std::vector<double> split();

  bool finished() const { return finished_; }

 private:
  // A group whose worth is values[on] - values[off]: `off` is the coalition around it, `on` has the
  // group as well.
  struct Group {
    double priority, tie_breaker;  // smaller ones first
    int64_t off, on, node;
    double weight;
  };
  struct Later {
    bool operator()(const Group& a, const Group& b) const {
      return a.priority != b.priority ? a.priority > b.priority : a.tie_breaker > b.tie_breaker;
    }
  };
  // A coalition that was asked for: an earlier one and the players of a node.
  struct Origin {
    int64_t before, node;
  };

  Group pop();
  void push(int64_t off, int64_t on, int64_t node, double weight);
  std::vector<Group> take_batch();
  int64_t ask_about_halves(const std::vector<Group>& batch);
  void halve(const Group& group, int64_t left_row);
  void give(const Group& group);
  Coalition coalition(int64_t row, int64_t node) const;
  const double* value(int64_t row) const { return values_.data() + row * asker_.outputs(); }

  Asker& asker_;
  const TreeLayout& tree_;
  SiblingContext context_;
  int64_t budget_, batch_size_;
  NumpyRandom random_;
  std::vector<double>
      values_;  // [rows × outputs]: row 0 is everything hidden, row 1 everything visible
  std::vector<Origin> origins_;  // by row
  std::vector<double> given_;
  std::priority_queue<Group, std::vector<Group>, Later> queue_;
  bool finished_ = true;
};

}  // namespace whyformer
