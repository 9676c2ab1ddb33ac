#include <fmt/format.h>

#include <algorithm>

#include "games/asker.h"
#include "games/partition_queue.h"
#include "games/tree_layout.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

// With siblings always visible, a group is worth what everything loses without it; with siblings
// always hidden, what it adds to nothing. A node is given its worth less that of its halves, so no
// queue is needed. Halves are asked for from the root downwards: wherever the watch ends it, the
// groups that were not split keep their worth.
class FixedContext {
 public:
  FixedContext(Asker& asker, const TreeLayout& tree, SiblingContext context,
               const std::vector<double>& ends)
      : asker_(asker), tree_(tree), visible_(context == SiblingContext::kVisible), ends_(ends) {}

  std::vector<double> split() {
    std::vector<double> given(tree_.nodes() * asker_.outputs());
    for (int64_t output = 0; output < asker_.outputs(); ++output) {
      given[tree_.root() * asker_.outputs() + output] =
          ends_[asker_.outputs() + output] - ends_[output];
    }
    const int64_t merges_at_once = std::max<int64_t>(1, asker_.at_once() / 2);
    for (int64_t node = tree_.root(); !tree_.is_player(node) && !asker_.stopped();) {
      const int64_t count = std::min(merges_at_once, node + 1 - asker_.players());
      const std::vector<double> answers = asker_.ask(halves_of(node, count));
      const int64_t split = static_cast<int64_t>(answers.size()) / (2 * asker_.outputs());
      for (int64_t i = 0; i < split; ++i) {
        pass_down(node - i, tree_.left(node - i), answers.data() + 2 * i * asker_.outputs(), given);
        pass_down(node - i, tree_.right(node - i), answers.data() + (2 * i + 1) * asker_.outputs(),
                  given);
      }
      node -= split;
      finished_ = tree_.is_player(node);
    }
    return given;
  }

  bool finished() const { return finished_; }

 private:
  std::vector<Coalition> halves_of(int64_t node, int64_t count) const {
    std::vector<Coalition> coalitions(2 * count, Coalition(asker_.players(), visible_));
    for (int64_t i = 0; i < count; ++i) {
      tree_.set(tree_.left(node - i), !visible_, coalitions[2 * i]);
      tree_.set(tree_.right(node - i), !visible_, coalitions[2 * i + 1]);
    }
    return coalitions;
  }

  void pass_down(int64_t node, int64_t half, const double* answer,
                 std::vector<double>& given) const {
    const int64_t outputs = asker_.outputs();
    for (int64_t output = 0; output < outputs; ++output) {
      const double worth =
          visible_ ? ends_[outputs + output] - answer[output] : answer[output] - ends_[output];
      given[half * outputs + output] += worth;
      given[node * outputs + output] -= worth;
    }
  }

  Asker& asker_;
  const TreeLayout& tree_;
  const bool visible_;
  const std::vector<double>& ends_;
  bool finished_ = false;
};

// Groups share out what they were given among their halves, by number of players.
std::vector<double> shared_out(std::vector<double> given, const TreeLayout& tree, int64_t players,
                               int64_t outputs) {
  for (int64_t node = tree.root(); node >= players; --node) {
    for (const int64_t half : {tree.left(node), tree.right(node)}) {
      const double share =
          static_cast<double>(tree.size(half)) / static_cast<double>(tree.size(node));
      for (int64_t output = 0; output < outputs; ++output) {
        given[half * outputs + output] += share * given[node * outputs + output];
      }
    }
  }
  given.resize(players * outputs);
  return given;
}

void check(const PartitionOptions& options) {
  if (options.max_evals < 2) {
    throw InvalidInput(fmt::format(
        "partition-shap needs at least 2 evaluations but max-evals is {}", options.max_evals));
  }
  if (options.batch_size < 1) {
    throw InvalidInput(fmt::format("partition-shap's batch_size must be at least 1 but is {}",
                                   options.batch_size));
  }
}

// One coalition less is enough, since they come in pairs and the last pair may go over the budget.
bool reaches_the_end(const PartitionOptions& options, int64_t players) {
  return options.max_evals >= 2 * players - 1;
}

int64_t planned(const PartitionOptions& options, const TreeLayout& tree, int64_t players) {
  const bool both = options.context == SiblingContext::kBoth;
  return std::min(options.max_evals,
                  both ? tree.owen_evaluations() : 2 * std::max<int64_t>(1, players));
}

}  // namespace

PartitionValues partition_shap(Game& game, const PlayerTree& tree, const PartitionOptions& options,
                               const Watch& watch) {
  check(options);
  const TreeLayout layout(tree, game.players());
  Asker asker(game, watch, planned(options, layout, game.players()));
  if (game.players() < 2) {
    GameValues single = from_ends(asker, std::vector<int64_t>(game.players(), 0));
    PartitionValues result{std::move(single)};
    result.hierarchical = result.values;
    return result;
  }
  const std::vector<double> ends = asker.ask_ends();
  PartitionValues result;
  const auto take = [&](auto search) {
    result.hierarchical = search.split();
    result.finished = search.finished();
  };
  if (options.context != SiblingContext::kBoth && reaches_the_end(options, game.players())) {
    take(FixedContext(asker, layout, options.context, ends));
  } else {
    take(PartitionQueue(asker, layout, options, ends));
  }
  result.base.assign(ends.begin(), ends.begin() + asker.outputs());
  result.full.assign(ends.begin() + asker.outputs(), ends.end());
  result.values = shared_out(result.hierarchical, layout, game.players(), asker.outputs());
  result.evaluations = asker.asked();
  check_additivity(result);
  return result;
}

}  // namespace whyformer
