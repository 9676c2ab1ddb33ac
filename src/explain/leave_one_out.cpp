#include <algorithm>

#include "explain/perturb/input_game.h"

namespace whyformer {
namespace {

// a_i = y(x) - y(x without unit i); special tokens stay and get 0.
Scores leave_one_out(Explained& explained, const HidingOptions& options) {
  InputGame game(explained, options);
  const std::vector<bool> varying = game.varying();
  std::vector<Coalition> without;
  for (size_t player = 0; player < varying.size(); ++player) {
    if (!varying[player]) continue;
    without.emplace_back(varying.size(), true);
    without.back()[player] = false;
  }
  const double whole = explained.in_space(options.space, explained.outputs());
  std::vector<double> falls(varying.size(), 0.0);
  size_t player = 0;
  for (size_t done = 0; done < without.size();) {
    const size_t end = std::min(without.size(), done + static_cast<size_t>(game.most_at_once()));
    for (const double value : game.values({without.begin() + done, without.begin() + end})) {
      while (!varying[player]) ++player;
      falls[player++] = whole - value;
    }
    done = end;
    explained.report_progress(static_cast<int64_t>(done), static_cast<int64_t>(without.size()));
  }
  return {game.by_unit(falls)};
}

}  // namespace

const Method kLeaveOneOut{
    {.name = "leave-one-out",
     .summary = "how much the target falls when a token or patch is taken away",
     .paper = "Li et al., 2016 (erasure); Zeiler & Fergus, ECCV 2014 (occlusion)",
     .cost = "1 forward per token or patch",
     .class_specific = true,
     .is_signed = true,
     .options = {hiding_option(), space_option()},
     .presets = {}},
    {},
    [](Explained& explained, const OptionReader& options) {
      return leave_one_out(explained, hiding_options(options));
    },
    OnPairs::kTogether};

}  // namespace whyformer
