#include <algorithm>
#include <limits>

#include "methods/hiding/input_game.h"

namespace whyformer {
namespace {

// Everything but one player, for each that can be hidden.
std::vector<Coalition> all_but_one(const std::vector<bool>& varying) {
  std::vector<Coalition> without;
  for (size_t player = 0; player < varying.size(); ++player) {
    if (!varying[player]) continue;
    without.emplace_back(varying.size(), true);
    without.back()[player] = false;
  }
  return without;
}

// What the coalitions are worth, those that were asked for before the caller stopped it.
std::vector<double> worth_of(const std::vector<Coalition>& coalitions, InputGame& game,
                             const Run& run) {
  std::vector<double> worth;
  try {
    while (worth.size() < coalitions.size()) {
      const size_t end =
          std::min(coalitions.size(), worth.size() + static_cast<size_t>(game.max_at_once()));
      const std::vector<double> more =
          game.values({coalitions.begin() + static_cast<int64_t>(worth.size()),
                       coalitions.begin() + static_cast<int64_t>(end)});
      worth.insert(worth.end(), more.begin(), more.end());
      run.report_progress(static_cast<int64_t>(end), static_cast<int64_t>(coalitions.size()));
    }
  } catch (const Interrupted&) {
    if (worth.empty()) throw;
  }
  return worth;
}

// a_i = y(x) - y(x without unit i); special tokens stay and get 0.
Scores leave_one_out(Run& run, const HidingOptions& options) {
  InputGame game(run, options);
  const std::vector<bool> varying = game.varying();
  const std::vector<Coalition> without = all_but_one(varying);
  const std::vector<double> worth = worth_of(without, game, run);
  const double whole = run.in_space(options.space, run.outputs());
  std::vector<double> falls(varying.size(), 0.0);
  size_t at = 0;
  for (size_t player = 0; player < varying.size(); ++player) {
    if (!varying[player]) continue;
    falls[player] =
        at < worth.size() ? whole - worth[at] : std::numeric_limits<double>::quiet_NaN();
    ++at;
  }
  Scores scores{game.by_unit(falls)};
  scores.stopped = worth.size() < without.size();
  if (scores.stopped)
    scores.notes.push_back(
        stopped_note(worth.size(), without.size(), "inputs with one part hidden"));
  return scores;
}

}  // namespace

const Method kLeaveOneOut{
    {.name = "leave-one-out",
     .summary = "drop of the target when one unit is removed",
     .paper = "Li et al., 2016 (erasure); Zeiler & Fergus, ECCV 2014 (occlusion)",
     .cost = "M forwards",
     .class_specific = true,
     .is_signed = true,
     .model_agnostic = true,
     .options = {hiding_option(), space_option()},
     .presets = {}},
    {},
    [](Run& run, const OptionReader& options) {
      return leave_one_out(run, hiding_options(options));
    },
    OnSeveralParts::kTogether};

}  // namespace whyformer
