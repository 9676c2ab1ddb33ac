// The units of an explained input that can be hidden, and the model's answers without some of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evaluate/hidden_answers.h"
#include "run/run.h"

namespace whyformer {

class HideableUnits {
 public:
  // Refers to the run. `how` as in Part::hiding; throws InvalidInput for a way the input does not
  // know.
  HideableUnits(Run& run, std::string how);

  int64_t count() const { return static_cast<int64_t>(units_.size()); }
  const std::vector<int64_t>& units() const { return units_; }
  // What the scores of all units say of these.
  std::vector<double> pick(std::span<const double> scores) const;
  std::vector<bool> pick(const std::vector<bool>& region) const;

  // With these units as players. Where hidden columns are those of several rows, the mean over the
  // rows. The answers refer to this object.
  HiddenAnswers answers();
  // Of the answers: "probability", or what the model gives.
  bool has_probabilities() const { return run_.has_probabilities(); }

 private:
  std::vector<HiddenAnswer> ask(const std::vector<HiddenAnswers::Hidden>& questions);
  std::optional<int64_t> label_of(const std::vector<double>& outputs) const;

  Run& run_;
  std::string how_;
  std::vector<int64_t> units_;
  std::vector<double> weights_;  // of the rows that hidden columns are taken from
};

}  // namespace whyformer
