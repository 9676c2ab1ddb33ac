#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numpy_random.h"
#include "games/asker.h"
#include "games/contexts.h"
#include "games/running_mean.h"
#include "games/tree_layout.h"
#include "games/tree_order.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

// Between two looks at the standard errors. Too few orders may agree by chance.
constexpr int64_t kOrdersBetweenLooks = 8;

using Order = std::vector<int64_t>;

class Orders {
 public:
  Orders(const Game& game, const PermutationOptions& options)
      : varies_(game.varying()), random_(options.seed), order_(varying_players(game)) {
    if (options.tree) tree_.emplace(*options.tree, game.players());
  }

  // As shap: without a tree, the order before is shuffled again.
  const Order& next() {
    if (tree_) {
      order_ = random_tree_order(*tree_, random_);
      std::erase_if(order_, [&](int64_t player) { return !varies_[player]; });
    } else {
      random_.shuffle(order_);
    }
    return order_;
  }

 private:
  std::vector<bool> varies_;
  NumpyRandom random_;
  std::optional<TreeLayout> tree_;
  Order order_;
};

// Players appear in the order given, then disappear in the same order: that order and its reverse.
void add_walk(const Order& order, int64_t players, std::vector<Coalition>& walk) {
  walk.emplace_back(players, false);
  for (const bool visible : {true, false}) {
    for (const int64_t player : order) {
      Coalition next = walk.back();
      next[player] = visible;
      walk.push_back(std::move(next));
    }
  }
}

// Those before a player, or those after it, whichever leaves `anchor` out: an order and its reverse
// are walked together.
Coalition either_way(Coalition before, const Order& order, int64_t player, int64_t anchor) {
  if (!before[anchor]) return before;
  for (const int64_t other : order) {
    if (other != player) before[other] = !before[other];
  }
  return before;
}

class WalkedOrders {
 public:
  explicit WalkedOrders(Asker& asker)
      : asker_(asker), means_(asker.players() * asker.outputs()), contexts_(asker.players()) {}

  // For groups that stay together: there a player may have one context only, and be known exactly.
  void trust_single_contexts() { trusts_single_contexts_ = true; }

  // Uses those orders whose walks were answered to the end.
  void walk(const std::vector<Order>& orders) {
    std::vector<Coalition> walks;
    for (const Order& order : orders) add_walk(order, asker_.players(), walks);
    const std::vector<double> answers = asker_.ask(walks);
    const size_t length = (2 * orders[0].size() + 1) * asker_.outputs();
    for (size_t i = 0; i < orders.size() && (i + 1) * length <= answers.size(); ++i) {
      add(orders[i], answers.data() + i * length);
    }
  }

  double largest_error() const {
    double largest = 0;
    for (size_t at = 0; at < means_.size(); ++at) largest = std::max(largest, error(at));
    return largest;
  }

  int64_t count() const { return count_; }

  GameValues result() const {
    GameValues result{.base = base_, .full = full_, .values = {}, .evaluations = asker_.asked()};
    for (size_t at = 0; at < means_.size(); ++at) {
      result.values.push_back(means_[at].mean());
      result.errors.push_back(error(at));
    }
    return result;
  }

 private:
  double error(size_t at) const {
    if (means_[at].count() == 0) return 0;  // players that do not vary
    const auto player = static_cast<int64_t>(at) / asker_.outputs();
    if (!trusts_single_contexts_ && !contexts_.several(player))
      return std::numeric_limits<double>::infinity();
    return means_[at].standard_error();
  }

  void note_contexts(const Order& order) {
    const auto [first, second] = two_smallest(order);
    Coalition before(asker_.players(), false);
    for (const int64_t player : order) {
      if (!contexts_.several(player)) {
        contexts_.add(player, either_way(before, order, player, player == first ? second : first));
      }
      before[player] = true;
    }
  }

  static std::pair<int64_t, int64_t> two_smallest(Order order) {
    if (order.size() == 1) return {order[0], order[0]};
    std::partial_sort(order.begin(), order.begin() + 2, order.end());
    return {order[0], order[1]};
  }

  void add(const Order& order, const double* answers) {
    note_contexts(order);
    const auto outputs = static_cast<size_t>(asker_.outputs()), length = order.size();
    const auto at = [&](size_t step, size_t output) { return answers[step * outputs + output]; };
    for (size_t i = 0; i < length; ++i) {
      for (size_t output = 0; output < outputs; ++output) {
        const double appearing = at(i + 1, output) - at(i, output);
        const double disappearing = at(length + i, output) - at(length + i + 1, output);
        means_[order[i] * outputs + output].add((appearing + disappearing) / 2);
      }
    }
    base_.assign(answers, answers + outputs);
    full_.assign(answers + length * outputs, answers + (length + 1) * outputs);
    ++count_;
  }

  Asker& asker_;
  std::vector<RunningMean> means_;  // [players × outputs], over pairs of orders
  Contexts contexts_;
  bool trusts_single_contexts_ = false;
  std::vector<double> base_, full_;
  int64_t count_ = 0;
};

int64_t affordable_orders(const PermutationOptions& options, int64_t varying) {
  const int64_t each = 2 * varying + 1;
  if (options.max_evals < each) {
    throw InvalidInput(
        fmt::format("permutation-shap of {} players that vary needs at least {} evaluations but "
                    "max-evals is {}",
                    varying, each, options.max_evals));
  }
  // An order and its reverse are all there are of two players.
  return varying <= 2 ? 1 : options.max_evals / each;
}

}  // namespace

GameValues permutation_shap(Game& game, const PermutationOptions& options, const Watch& watch) {
  check_target_error(options.target_error);
  const std::vector<int64_t> varying = varying_players(game);
  const auto length = static_cast<int64_t>(varying.size());
  Orders orders(game, options);
  if (length == 0) {
    Asker asker(game, watch, 2);
    return from_ends(asker, varying);
  }
  const int64_t most = affordable_orders(options, length);
  Asker asker(game, watch, most * (2 * length + 1));
  WalkedOrders walked(asker);
  if (options.tree) walked.trust_single_contexts();
  const bool to_target = options.target_error > 0;
  const auto reached = [&] { return to_target && walked.largest_error() <= options.target_error; };
  const int64_t at_once =
      to_target ? kOrdersBetweenLooks : std::max<int64_t>(1, asker.at_once() / (2 * length + 1));
  while (walked.count() < most && !asker.stopped() && !(walked.count() > 0 && reached())) {
    std::vector<Order> next;
    for (int64_t i = std::min(at_once, most - walked.count()); i > 0; --i)
      next.push_back(orders.next());
    walked.walk(next);
  }
  if (walked.count() == 0) throw Interrupted();
  GameValues result = walked.result();
  if (length <= 2) result.errors.clear();
  result.finished = to_target && length > 2 ? reached() : walked.count() == most;
  check_additivity(result);
  return result;
}

}  // namespace whyformer
