// The weighted least squares of Kernel SHAP over coalitions whose values come in bit by bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "games/coalition_moments.h"
#include "games/kernel_coalitions.h"
#include "whyformer/games.h"

namespace whyformer {

class KernelRegression {
 public:
  // `deltas`: what all players together are worth, per output. `budget`: rows that were planned.
  KernelRegression(const KernelCoalitions& coalitions, std::vector<double> deltas,
                   KernelSelection selection, int64_t budget);

  // Values [rows × outputs] of the first rows, that of nothing visible taken off. Those taken
  // before stay.
  void take(std::vector<double> y);

  struct Fit {
    std::vector<double> values;  // [players × outputs]
    std::vector<double>
        errors;             // empty where nothing was drawn; infinite where they cannot be told
    bool singular = false;  // fewer independent equations than players
  };
  Fit fit() const;

 private:
  using Selected = std::vector<std::vector<int64_t>>;  // per output

  CoalitionMoments all_drawn() const;
  // Enumerated coalitions and these drawn ones, which carry the weight of all that could be drawn.
  CoalitionMoments with_enumerated(const CoalitionMoments& drawn) const;
  Selected select() const;
  // Adds values [players × outputs]; returns whether the equations were singular.
  bool solve(const CoalitionMoments& moments, const Selected& selected,
             std::vector<double>& values) const;
  bool solve(const CoalitionMoments& moments, const std::vector<int64_t>& players,
             const std::vector<int64_t>& outputs, std::vector<double>& values) const;
  std::vector<double> errors(const Selected& selected, const CoalitionMoments& drawn) const;

  const KernelCoalitions& coalitions_;
  std::vector<double> deltas_;
  KernelSelection selection_;
  int64_t budget_, players_, outputs_;
  std::vector<double> y_;
  size_t next_draw_ = 0;
  std::vector<double> counts_;  // of drawn rows
  CoalitionMoments enumerated_;
  std::vector<CoalitionMoments> blocks_;
};

}  // namespace whyformer
