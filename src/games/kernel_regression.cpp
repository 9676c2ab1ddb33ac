#include "games/kernel_regression.h"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "games/augmented_system.h"
#include "games/jackknife.h"
#include "games/kernel_selection.h"
#include "games/symmetric_system.h"

namespace whyformer {

KernelRegression::KernelRegression(const KernelCoalitions& coalitions, std::vector<double> deltas,
                                   KernelSelection selection, int64_t budget)
    : coalitions_(coalitions),
      deltas_(std::move(deltas)),
      selection_(selection),
      budget_(budget),
      players_(static_cast<int64_t>(coalitions.rows.front().size())),
      outputs_(static_cast<int64_t>(deltas_.size())),
      counts_(coalitions.drawn()),
      enumerated_(players_, outputs_),
      blocks_(coalitions.draws.empty() ? 0 : kJackknifeBlocks,
              CoalitionMoments(players_, outputs_)) {}

void KernelRegression::take(std::vector<double> y) {
  const int64_t taken = static_cast<int64_t>(y_.size()) / outputs_,
                rows = static_cast<int64_t>(y.size()) / outputs_;
  y_ = std::move(y);
  std::map<double, std::vector<int64_t>> by_weight;
  for (int64_t row = taken; row < std::min(rows, coalitions_.enumerated()); ++row) {
    by_weight[coalitions_.enumerated_weights[row]].push_back(row);
  }
  for (const auto& [weight, alike] : by_weight)
    enumerated_.add_alike(coalitions_.rows, alike, weight, y_);

  std::vector<double> more(counts_.size());
  for (; next_draw_ < coalitions_.draws.size() && coalitions_.draws[next_draw_] < rows;
       ++next_draw_) {
    more[coalitions_.draws[next_draw_] - coalitions_.enumerated()] +=
        coalitions_.draw_weights.empty() ? 1 : coalitions_.draw_weights[next_draw_];
  }
  std::map<std::pair<int64_t, double>, std::vector<int64_t>> by_block_and_count;
  for (size_t i = 0; i < more.size(); ++i) {
    if (more[i] == 0) continue;
    counts_[i] += more[i];
    by_block_and_count[{coalitions_.pairs[i] % kJackknifeBlocks, more[i]}].push_back(
        coalitions_.enumerated() + static_cast<int64_t>(i));
  }
  for (const auto& [key, alike] : by_block_and_count) {
    blocks_[key.first].add_alike(coalitions_.rows, alike, key.second, y_);
  }
}

CoalitionMoments KernelRegression::all_drawn() const {
  CoalitionMoments drawn(players_, outputs_);
  for (const CoalitionMoments& block : blocks_) drawn.add(block, 1);
  return drawn;
}

CoalitionMoments KernelRegression::with_enumerated(const CoalitionMoments& drawn) const {
  CoalitionMoments moments = enumerated_;
  if (drawn.weight > 0) moments.add(drawn, coalitions_.drawn_weight / drawn.weight);
  return moments;
}

KernelRegression::Selected KernelRegression::select() const {
  if (selection_.kind == KernelSelection::Kind::kNone) {
    std::vector<int64_t> all(players_);
    std::iota(all.begin(), all.end(), 0);
    return {all};
  }
  const int64_t rows = static_cast<int64_t>(y_.size()) / outputs_;
  std::vector<double> weights = coalitions_.enumerated_weights;
  const double counted = std::accumulate(counts_.begin(), counts_.end(), 0.0);
  for (const double count : counts_) weights.push_back(count * coalitions_.drawn_weight / counted);
  weights.resize(rows);
  Selected selected;
  for (int64_t output = 0; output < outputs_; ++output) {
    std::vector<double> y(rows);
    for (int64_t row = 0; row < rows; ++row) y[row] = y_[row * outputs_ + output];
    selected.push_back(
        select_players(selection_, augmented_system(std::span(coalitions_.rows).first(rows),
                                                    weights, y, deltas_[output], budget_)));
  }
  return selected;
}

KernelRegression::Fit KernelRegression::fit() const {
  const Selected selected = select();
  const CoalitionMoments drawn = all_drawn();
  Fit fit;
  fit.values.resize(players_ * outputs_);
  fit.singular = solve(with_enumerated(drawn), selected, fit.values);
  if (fit.singular)
    fit.errors.assign(players_ * outputs_, std::numeric_limits<double>::infinity());
  else if (!coalitions_.draws.empty())
    fit.errors = errors(selected, drawn);
  return fit;
}

bool KernelRegression::solve(const CoalitionMoments& moments, const Selected& selected,
                             std::vector<double>& values) const {
  if (static_cast<int64_t>(selected.size()) == 1) {
    std::vector<int64_t> all(outputs_);
    std::iota(all.begin(), all.end(), 0);
    return solve(moments, selected.front(), all, values);
  }
  bool singular = false;
  for (int64_t output = 0; output < outputs_; ++output) {
    singular = solve(moments, selected[output], {output}, values) || singular;
  }
  return singular;
}

// The last player gets what the others leave of the sum: y - z* Δ regressed on z - z*.
bool KernelRegression::solve(const CoalitionMoments& moments, const std::vector<int64_t>& players,
                             const std::vector<int64_t>& outputs,
                             std::vector<double>& values) const {
  if (players.empty()) return false;
  const int64_t last = players.back(), free = static_cast<int64_t>(players.size()) - 1;
  const int64_t sides = static_cast<int64_t>(outputs.size());
  std::vector<double> matrix(free * free), right(free * sides);
  for (int64_t i = 0; i < free; ++i) {
    const int64_t a = players[i];
    const double with_last = moments.seen_together(a, last) - moments.seen(last);
    for (int64_t j = 0; j <= i; ++j) {
      const int64_t b = players[j];
      matrix[i * free + j] =
          moments.seen_together(a, b) - moments.seen_together(b, last) - with_last;
    }
    for (int64_t side = 0; side < sides; ++side) {
      const int64_t output = outputs[side];
      right[i * sides + side] = moments.zy[a * outputs_ + output] -
                                moments.zy[last * outputs_ + output] - deltas_[output] * with_last;
    }
  }
  const SymmetricSystem system(std::move(matrix), free);
  const std::vector<double> solution = system.solve(right, sides);
  for (int64_t side = 0; side < sides; ++side) {
    double rest = deltas_[outputs[side]];
    for (int64_t i = 0; i < free; ++i) {
      values[players[i] * outputs_ + outputs[side]] = solution[i * sides + side];
      rest -= solution[i * sides + side];
    }
    values[last * outputs_ + outputs[side]] = rest;
  }
  return system.singular();
}

std::vector<double> KernelRegression::errors(const Selected& selected,
                                             const CoalitionMoments& drawn) const {
  std::vector<std::vector<double>> estimates;
  for (const CoalitionMoments& block : blocks_) {
    if (block.weight == 0) continue;
    CoalitionMoments others = drawn;
    others.add(block, -1);
    estimates.emplace_back(players_ * outputs_);
    // Without this block the others leave values open: there is nothing to compare with.
    if (solve(with_enumerated(others), selected, estimates.back()))
      return jackknife_errors({}, players_ * outputs_);
  }
  return jackknife_errors(estimates, players_ * outputs_);
}

}  // namespace whyformer
