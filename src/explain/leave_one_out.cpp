#include "explain/method.h"

namespace whyformer {
namespace {

// a_i = y(x) - y(x without unit i); special tokens stay and get 0.
Scores leave_one_out(Explained& explained, const std::string& how) {
  const std::vector<bool>& special = explained.subject().special();
  std::vector<std::vector<bool>> hidden;
  for (size_t i = 0; i < special.size(); ++i) {
    if (special[i]) continue;
    hidden.emplace_back(special.size(), false);
    hidden.back()[i] = true;
  }
  const std::vector<std::vector<double>> answers = explained.evaluate_hiding(hidden, how);
  Scores scores{std::vector<double>(special.size(), 0.0)};
  size_t next = 0;
  for (size_t i = 0; i < special.size(); ++i) {
    if (!special[i]) scores.values[i] = explained.target_value() - answers[next++][explained.target()];
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
     .options = {{"how",
                  "tokens: replace by the mask token (auto), delete, or drop from attention in every "
                  "layer; patches: paint grey (auto), black, the picture's mean colour, or blurred",
                  std::string("auto"),
                  {"auto", "mask", "delete", "drop", "grey", "black", "mean", "blur"}}},
     .presets = {}},
    {},
    [](Explained& explained, const OptionReader& options) {
      return leave_one_out(explained, options.word("how"));
    }};

}  // namespace whyformer
