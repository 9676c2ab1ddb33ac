#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "games/asker.h"
#include "games/kernel_coalitions.h"
#include "games/kernel_order.h"
#include "games/kernel_regression.h"
#include "games/kernel_selection.h"
#include "games/kernel_start.h"
#include "games/shapley_table.h"
#include "whyformer/error.h"
#include "whyformer/games.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

// Ten blocks of moments of this many players take 400 MB.
constexpr int64_t kMostPlayers = 2048;
// Drawn coalitions between two looks at the errors.
constexpr int64_t kRound = 256;

void check(const KernelOptions& options, int64_t players) {
  if (options.samples < 0 || options.samples > kMaxFitSamples) {
    throw InvalidInput(fmt::format("Kernel SHAP: samples is {}, expected 0 to {}", options.samples,
                                   kMaxFitSamples));
  }
  if (!(options.target_error >= 0)) {
    throw InvalidInput(
        fmt::format("Kernel SHAP: target_error is {}, expected 0 or more", options.target_error));
  }
  if (options.selection.kind == KernelSelection::Kind::kNumber && options.selection.players < 1) {
    throw InvalidInput(
        fmt::format("Kernel SHAP: it cannot select {} players", options.selection.players));
  }
  if (options.selection.kind == KernelSelection::Kind::kLasso && !(options.selection.alpha >= 0)) {
    throw InvalidInput(fmt::format("Kernel SHAP: the lasso's alpha is {}, expected 0 or more",
                                   options.selection.alpha));
  }
  if (players > kMostPlayers) {
    throw InvalidInput(fmt::format(
        "Kernel SHAP over {} players: at most {} fit; group them or use permutation SHAP", players,
        kMostPlayers));
  }
}

class KernelFit {
 public:
  KernelFit(Game& game, const KernelOptions& options, const Watch& watch)
      : options_(options),
        all_(game.players()),
        outputs_(game.outputs()),
        players_(varying_players(game)),
        game_(game, watch, 2) {
    const int64_t wanted = options.samples > 0 ? options.samples : 2 * count() + 2048;
    check(options_, count());
    if (count() < 2) return;
    samples_ = std::min(wanted, proper_coalitions(count()));
    const double share_seen =
        static_cast<double>(samples_) / static_cast<double>(proper_coalitions(count()));
    options_.selection = settled(options.selection, share_seen);
    game_.plan(2 + samples_);
  }

  GameValues run() {
    const std::vector<double> ends = ask({Coalition(all_, false), Coalition(all_, true)});
    result_.base.assign(ends.begin(), ends.begin() + outputs_);
    result_.full.assign(ends.begin() + outputs_, ends.end());
    result_.values.resize(all_ * outputs_);
    for (int64_t output = 0; output < outputs_; ++output) {
      deltas_.push_back(result_.full[output] - result_.base[output]);
    }
    if (stopped_ && count() > 1) throw Interrupted();
    if (count() == 1) {
      place(deltas_, result_.values);
    } else if (count() > 1) {
      by_regression();
    }
    result_.evaluations = game_.asked();
    return std::move(result_);
  }

 private:
  int64_t count() const { return static_cast<int64_t>(players_.size()); }
  bool enumerates_all() const { return count() <= 30 && samples_ >= proper_coalitions(count()); }

  // All or Interrupted.
  std::vector<double> ask(const std::vector<Coalition>& coalitions) {
    std::vector<double> values;
    stopped_ = !game_.ask(coalitions, values);
    if (values.size() < coalitions.size() * outputs_) throw Interrupted();
    for (double& value : values) value = value_behind(options_.link, value);
    return values;
  }

  void place(const std::vector<double>& of_varying, std::vector<double>& of_all) const {
    for (size_t i = 0; i < players_.size(); ++i) {
      std::copy_n(of_varying.begin() + i * outputs_, outputs_,
                  of_all.begin() + players_[i] * outputs_);
    }
  }

  // Every coalition is known: no regression is needed.
  void from_table(const KernelCoalitions& coalitions, const std::vector<double>& y) {
    std::vector<double> table((size_t{1} << count()) * outputs_, 0.0);
    std::copy(deltas_.begin(), deltas_.end(), table.end() - outputs_);
    for (size_t row = 0; row < coalitions.rows.size(); ++row) {
      size_t bits = 0;
      for (int64_t player = 0; player < count(); ++player) {
        bits |= static_cast<size_t>(coalitions.rows[row][player]) << player;
      }
      std::copy_n(y.begin() + row * outputs_, outputs_, table.begin() + bits * outputs_);
    }
    place(shapley_from_table(table, count(), outputs_), result_.values);
  }

  // Stopped: what was asked for so far is a sample of its own, smaller than planned.
  void from_beginning(const KernelCoalitions& planned, const std::vector<int64_t>& order,
                      int64_t asked, const std::vector<double>& y) {
    const KernelBeginning known = beginning_of(planned, order, asked);
    if (known.rows.empty()) throw Interrupted();
    std::vector<double> known_y;
    for (const int64_t row : known.rows) {
      known_y.insert(known_y.end(), y.begin() + row * outputs_, y.begin() + (row + 1) * outputs_);
    }
    KernelRegression regression(known.coalitions, deltas_, options_.selection, samples_);
    regression.take(std::move(known_y));
    KernelRegression::Fit fit = regression.fit();
    if (fit.singular) throw Interrupted();
    // Complete sizes alone say nothing of the others.
    if (fit.errors.empty())
      fit.errors.assign(count() * outputs_, std::numeric_limits<double>::infinity());
    report(fit);
    result_.finished = false;
  }

  // What is to be asked, the start before the others.
  struct Plan {
    KernelCoalitions coalitions = {};
    std::vector<int64_t> order = {};
    std::vector<double> y = {};  // by row; known of the start
    int64_t known = 0;
    int64_t known_drawn = 0;
  };

  bool to_target() const { return options_.target_error > 0; }

  void by_regression() {
    const KernelStart start =
        kernel_start(count(), samples_, options_.seed, to_target() ? kRound : samples_);
    std::vector<double> start_y(start.rows() * outputs_);
    const int64_t asked = take(start.coalitions, start.order, start_y);
    if (asked < start.rows() || stopped_) {
      return from_beginning(start.coalitions, start.order, asked, start_y);
    }
    std::optional<Plan> plan;
    try {
      plan.emplace(plan_behind(start, start_y));
    } catch (const Interrupted&) {
      if (start.empty()) throw;
      return from_beginning(start.coalitions, start.order, asked, start_y);
    }
    follow(*plan);
  }

  Plan plan_behind(const KernelStart& start, const std::vector<double>& start_y) const {
    Plan plan{.coalitions = kernel_coalitions(count(), samples_, options_.seed),
              .known = start.rows(),
              .known_drawn = start.drawn};
    plan.order = to_target() ? enumerated_first(plan.coalitions, options_.seed)
                             : asking_order(plan.coalitions, options_.seed);
    plan.y.resize(plan.coalitions.rows.size() * outputs_);
    std::vector<bool> is_known(plan.coalitions.rows.size(), false);
    for (int64_t row = 0; row < start.rows(); ++row) {
      is_known[start.plan_rows[row]] = true;
      std::copy_n(start_y.begin() + row * outputs_, outputs_,
                  plan.y.begin() + start.plan_rows[row] * outputs_);
    }
    std::stable_partition(plan.order.begin(), plan.order.end(),
                          [&](int64_t row) { return is_known[row]; });
    return plan;
  }

  void follow(Plan& plan) {
    const KernelCoalitions& coalitions = plan.coalitions;
    const int64_t rows = static_cast<int64_t>(coalitions.rows.size());
    game_.plan(2 + rows);
    // From here on rows are known in their own order, the enumerated ones first.
    const int64_t in_order = coalitions.enumerated() + std::max<int64_t>(2, plan.known_drawn);
    KernelRegression regression(coalitions, deltas_, options_.selection, samples_);
    bool precise = false;
    for (int64_t asked = 0; asked < rows && !stopped_ && !precise;) {
      const int64_t round_end =
          to_target() ? std::min(rows, std::max(asked, coalitions.enumerated()) + kRound) : rows;
      const int64_t next = std::max(asked, plan.known);
      asked =
          next + take(coalitions, std::span(plan.order).subspan(next, round_end - next), plan.y);
      if (asked < rows && (!to_target() || asked < in_order)) {
        return from_beginning(coalitions, plan.order, asked, plan.y);
      }
      if (asked == rows && enumerates_all() &&
          options_.selection.kind == KernelSelection::Kind::kNone) {
        return from_table(coalitions, plan.y);
      }
      regression.take({plan.y.begin(), plan.y.begin() + asked * outputs_});
      const KernelRegression::Fit fit = regression.fit();
      if (stopped_ && asked < rows && fit.singular) throw Interrupted();
      precise = report(fit);
      result_.finished = precise || (asked == rows && !to_target());
    }
  }

  // Asks for these rows and puts what they are worth over nothing visible in their places of `y`.
  // Returns how many.
  int64_t take(const KernelCoalitions& coalitions, std::span<const int64_t> rows,
               std::vector<double>& y) {
    std::vector<Coalition> wanted;
    for (const int64_t row : rows)
      wanted.push_back(among_all(coalitions.rows[row], players_, all_));
    std::vector<double> values;
    stopped_ = !game_.ask(wanted, values);
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t output = static_cast<int64_t>(i) % outputs_;
      y[rows[i / outputs_] * outputs_ + output] =
          value_behind(options_.link, values[i]) - result_.base[output];
    }
    return static_cast<int64_t>(values.size()) / outputs_;
  }

  // Whether the errors are as small as wanted.
  bool report(const KernelRegression::Fit& fit) {
    place(fit.values, result_.values);
    result_.determined = !fit.singular;
    result_.errors.clear();
    if (fit.errors.empty()) return true;
    result_.errors.resize(all_ * outputs_);
    place(fit.errors, result_.errors);
    const double largest = *std::max_element(fit.errors.begin(), fit.errors.end());
    return options_.target_error > 0 && !fit.singular && largest <= options_.target_error;
  }

  KernelOptions options_;
  int64_t all_, outputs_;
  std::vector<int64_t> players_;
  Asker game_;
  int64_t samples_ = 0;
  bool stopped_ = false;  // by the watch
  std::vector<double> deltas_;
  GameValues result_;
};

}  // namespace

GameValues kernel_shap(Game& game, const KernelOptions& options, const Watch& watch) {
  return KernelFit(game, options, watch).run();
}

}  // namespace whyformer
