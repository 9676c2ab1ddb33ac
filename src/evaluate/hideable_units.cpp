#include "evaluate/hideable_units.h"

#include <algorithm>

namespace whyformer {

HideableUnits::HideableUnits(Run& run, std::string how) : run_(run), how_(std::move(how)) {
  const std::vector<bool> can_hide = run.input().can_hide(how_);
  for (const int64_t unit : run.input().players()) {
    if (can_hide[unit] && !run.input().special()[unit]) units_.push_back(unit);
  }
  const bool by_rows = how_ == "auto" || how_ == "background";
  weights_ = by_rows ? run.input().background_weights() : std::vector<double>{1.0};
}

std::vector<double> HideableUnits::pick(std::span<const double> scores) const {
  std::vector<double> picked;
  for (const int64_t unit : units_) picked.push_back(scores[unit]);
  return picked;
}

std::vector<bool> HideableUnits::pick(const std::vector<bool>& region) const {
  std::vector<bool> picked;
  for (const int64_t unit : units_) picked.push_back(region[unit]);
  return picked;
}

HiddenAnswers HideableUnits::answers() {
  return {count(), [this](const auto& questions) { return ask(questions); }};
}

// Of several labels that may hold together: whether the target holds.
std::optional<int64_t> HideableUnits::label_of(const std::vector<double>& outputs) const {
  if (!run_.has_probabilities()) return std::nullopt;
  if (run_.labels_exclude_each_other() && outputs.size() > 1) {
    return std::max_element(outputs.begin(), outputs.end()) - outputs.begin();
  }
  return outputs[run_.target()] > 0 ? 1 : 0;
}

std::vector<HiddenAnswer> HideableUnits::ask(const std::vector<HiddenAnswers::Hidden>& questions) {
  std::vector<Variant> inputs;
  for (const HiddenAnswers::Hidden& question : questions) {
    std::vector<bool> hidden(run_.input().units(), false);
    for (size_t i = 0; i < units_.size(); ++i) hidden[units_[i]] = question[i];
    for (size_t row = 0; row < weights_.size(); ++row) {
      inputs.push_back(run_.input().hiding(hidden, how_, static_cast<int64_t>(row)));
    }
  }
  const std::vector<std::vector<double>> outputs = run_.answers(inputs);
  const OutputSpace space =
      run_.has_probabilities() ? OutputSpace::kProbability : OutputSpace::kLogit;
  std::vector<HiddenAnswer> answers(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    std::vector<double> mean(outputs[0].size(), 0.0);
    for (size_t row = 0; row < weights_.size(); ++row) {
      const std::vector<double>& one = outputs[i * weights_.size() + row];
      answers[i].value += weights_[row] * run_.in_space(space, one);
      for (size_t k = 0; k < one.size(); ++k) mean[k] += weights_[row] * one[k];
    }
    answers[i].output = mean[run_.target()];
    if (const auto label = label_of(mean)) {
      answers[i].keeps_label = *label == *label_of(run_.outputs());
    }
  }
  return answers;
}

}  // namespace whyformer
