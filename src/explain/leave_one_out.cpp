#include "explain/perturb/input_game.h"

namespace whyformer {
namespace {

// a_i = y(x) - y(x without unit i); special tokens stay and get 0.
Scores leave_one_out(Explained& explained, const HidingOptions& options) {
  const std::vector<bool>& special = explained.subject().special();
  std::vector<std::vector<bool>> hidden;
  for (size_t i = 0; i < special.size(); ++i) {
    if (special[i]) continue;
    hidden.emplace_back(special.size(), false);
    hidden.back()[i] = true;
  }
  const std::vector<std::vector<double>> answers = explained.evaluate_hiding(hidden, options.how);
  const double whole = explained.in_space(options.space, explained.outputs());
  Scores scores{std::vector<double>(special.size(), 0.0)};
  size_t next = 0;
  for (size_t i = 0; i < special.size(); ++i) {
    if (!special[i]) scores.values[i] = whole - explained.in_space(options.space, answers[next++]);
  }
  return scores;
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
    }};

}  // namespace whyformer
