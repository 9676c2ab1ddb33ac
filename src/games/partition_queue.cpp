#include "games/partition_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace whyformer {

PartitionQueue::PartitionQueue(Asker& asker, const TreeLayout& tree,
                               const PartitionOptions& options, std::vector<double> ends)
    : asker_(asker),
      tree_(tree),
      context_(options.context),
      budget_(options.max_evals),
      batch_size_(options.batch_size),
      random_(options.seed),
      values_(std::move(ends)),
      origins_{{-1, -1}, {0, tree.root()}},
      given_(tree.nodes() * asker.outputs()) {
  // Where the budget reaches to the end, the order does not matter: ask for as much as possible at
  // once.
  if (context_ == SiblingContext::kBoth && tree.owen_evaluations() <= budget_)
    batch_size_ = budget_;
}

std::vector<double> PartitionQueue::split() {
  queue_.push(
      {.priority = 0, .tie_breaker = 0, .off = 0, .on = 1, .node = tree_.root(), .weight = 1});
  while (!queue_.empty() && asker_.asked() < budget_ && !asker_.stopped()) {
    const std::vector<Group> batch = take_batch();
    const auto first_row = static_cast<int64_t>(origins_.size());
    const int64_t answered = ask_about_halves(batch);
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto left_row = static_cast<int64_t>(2 * i);
      left_row + 1 < answered ? halve(batch[i], first_row + left_row) : give(batch[i]);
    }
  }
  while (!queue_.empty()) give(pop());
  return std::move(given_);
}

PartitionQueue::Group PartitionQueue::pop() {
  const Group group = queue_.top();
  queue_.pop();
  return group;
}

void PartitionQueue::push(int64_t off, int64_t on, int64_t node, double weight) {
  double worth = 0;
  for (int64_t output = 0; output < asker_.outputs(); ++output) {
    worth = std::max(worth, std::abs(value(on)[output] - value(off)[output]));
  }
  queue_.push({.priority = -worth * weight,
               .tie_breaker = random_.normal(),
               .off = off,
               .on = on,
               .node = node,
               .weight = weight});
}

// Fills a batch with groups; players that come up meanwhile cost nothing.
std::vector<PartitionQueue::Group> PartitionQueue::take_batch() {
  std::vector<Group> batch;
  const auto coalitions = [&] { return static_cast<int64_t>(2 * batch.size()); };
  while (!queue_.empty() && coalitions() < batch_size_ && asker_.asked() + coalitions() < budget_) {
    const Group group = pop();
    tree_.is_player(group.node) ? give(group) : batch.push_back(group);
  }
  return batch;
}

// Two rows for each group: with its left half alone, and with its right half. Returns how many were
// answered.
int64_t PartitionQueue::ask_about_halves(const std::vector<Group>& batch) {
  std::vector<Coalition> coalitions;
  const auto add = [&](int64_t off, int64_t node) {
    coalitions.push_back(coalition(off, node));
    origins_.push_back({off, node});
  };
  for (const Group& group : batch) {
    add(group.off, tree_.left(group.node));
    add(group.off, tree_.right(group.node));
  }
  const std::vector<double> answers = asker_.ask(coalitions);
  values_.insert(values_.end(), answers.begin(), answers.end());
  return static_cast<int64_t>(answers.size()) / asker_.outputs();
}

void PartitionQueue::halve(const Group& group, int64_t left_row) {
  const int64_t right_row = left_row + 1, left = tree_.left(group.node),
                right = tree_.right(group.node);
  const double weight = context_ == SiblingContext::kBoth ? group.weight / 2 : group.weight;
  if (context_ != SiblingContext::kBoth) {
    const double sign = context_ == SiblingContext::kHidden ? 1 : -1;
    double* given = given_.data() + group.node * asker_.outputs();
    for (int64_t output = 0; output < asker_.outputs(); ++output) {
      const double interaction = value(group.on)[output] - value(left_row)[output] -
                                 value(right_row)[output] + value(group.off)[output];
      given[output] += sign * interaction * weight;
    }
  }
  if (context_ != SiblingContext::kVisible) {
    push(group.off, left_row, left, weight);
    push(group.off, right_row, right, weight);
  }
  if (context_ != SiblingContext::kHidden) {
    push(right_row, group.on, left, weight);
    push(left_row, group.on, right, weight);
  }
}

void PartitionQueue::give(const Group& group) {
  finished_ &= tree_.is_player(group.node);
  double* given = given_.data() + group.node * asker_.outputs();
  for (int64_t output = 0; output < asker_.outputs(); ++output) {
    given[output] += (value(group.on)[output] - value(group.off)[output]) * group.weight;
  }
}

Coalition PartitionQueue::coalition(int64_t row, int64_t node) const {
  Coalition visible(asker_.players(), false);
  tree_.set(node, true, visible);
  for (; row > 0; row = origins_[row].before) tree_.set(origins_[row].node, true, visible);
  return visible;
}

}  // namespace whyformer
