#include "methods/hiding/input_game.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/numpy_random.h"
#include "whyformer/error.h"

namespace whyformer {

InputGame::InputGame(Run& run, HidingOptions options)
    : run_(run), options_(std::move(options)), units_(run.input().players()) {
  const std::vector<bool> can_hide = run.input().can_hide(options_.how);
  for (const int64_t unit : units_) varying_.push_back(can_hide[unit]);
  // Other ways to hide a unit than by rows of a background have one outcome.
  const bool by_rows = options_.how == "auto" || options_.how == "background";
  weights_ = by_rows ? run.input().background_weights() : std::vector<double>{1.0};
}

// A coalition is as many inputs as there are backgrounds; a few batches at a time waste little on a
// last, small one.
int64_t InputGame::max_at_once() const {
  const int64_t inputs = run_.most_inputs_at_once();
  return backgrounds() == 1 ? inputs : std::max<int64_t>(1, 8 * inputs / backgrounds());
}

Variant InputGame::input_of(const Coalition& visible, int64_t background) const {
  std::vector<bool> hidden(run_.input().units(), false);
  for (size_t player = 0; player < units_.size(); ++player) {
    hidden[units_[player]] = varying_[player] && !visible[player];
  }
  return run_.input().hiding(hidden, options_.how, background);
}

std::vector<double> InputGame::values(const std::vector<Coalition>& coalitions) {
  std::vector<Variant> inputs;
  for (const Coalition& visible : coalitions) {
    for (int64_t background = 0; background < backgrounds(); ++background) {
      inputs.push_back(input_of(visible, background));
    }
  }
  const auto answers = run_.answers(inputs, Run::Report::kNo);
  std::vector<double> values(coalitions.size(), 0.0);
  for (size_t i = 0; i < answers.size(); ++i) {
    values[i / weights_.size()] +=
        weights_[i % weights_.size()] * run_.in_space(options_.space, answers[i]);
  }
  for (double& value : values) value = value_behind(options_.link, value);
  return values;
}

std::vector<double> InputGame::values(const std::vector<Coalition>& coalitions,
                                      const std::vector<int64_t>& background) {
  std::vector<Variant> inputs;
  for (size_t i = 0; i < coalitions.size(); ++i)
    inputs.push_back(input_of(coalitions[i], background[i]));
  std::vector<double> values;
  for (const auto& outputs : run_.answers(inputs, Run::Report::kNo)) {
    values.push_back(run_.in_space(options_.space, outputs));
  }
  return values;
}

std::vector<double> InputGame::by_unit(const std::vector<double>& by_player) const {
  std::vector<double> result(run_.input().units(), 0.0);
  if (by_player.empty()) return {};
  for (size_t player = 0; player < units_.size(); ++player)
    result[units_[player]] = by_player[player];
  return result;
}

std::vector<double> InputGame::errors_by_unit(const std::vector<double>& by_player) const {
  std::vector<double> result = by_unit(by_player);
  for (size_t unit = 0; unit < result.size(); ++unit) {
    if (run_.input().special()[unit]) result[unit] = std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

Scores InputGame::scores(const GameValues& found, const std::string& space) const {
  Scores scores{by_unit(found.values)};
  scores.completeness_gap = additivity_gaps(found)[0];
  scores.estimate = Estimate{.space = space,
                             .base = found.base[0],
                             .value = found.full[0],
                             .errors = errors_by_unit(found.errors),
                             .evaluations = found.evaluations,
                             .finished = found.finished};
  if (options_.link == GameLink::kLogit) {
    scores.estimate->space = "log-odds";
    scores.notes.push_back(
        fmt::format("Log-odds of the mean probability{} (link=logit).",
                    backgrounds() > 1 ? fmt::format(" over {} rows", backgrounds()) : ""));
  }
  return scores;
}

Scores InputGame::sampled_scores(const GameValues& found, const std::string& space) const {
  Scores result = scores(found, space);
  result.seed = run_.seed();
  return result;
}

OptionInfo hiding_option() {
  return {"how",
          "replacement of hidden units. Tokens: mask token (auto), deletion, removal from "
          "attention in every layer (drop), zero word vectors, or masking in the text before "
          "tokenization as in shap (retokenize). Patches: grey (auto), black, mean colour, "
          "blurred, or dropped. Columns: values of background rows (auto), their mean, or zero",
          std::string("auto"),
          {"auto", "mask", "delete", "drop", "retokenize", "grey", "black", "mean", "blur",
           "background", "zero"}};
}

HidingOptions hiding_options(const OptionReader& options) {
  return {options.word("how"), space_named(options.word("space"))};
}

OptionInfo link_option() {
  return {"link",
          "link function applied to the mean over the background, as in shap; logit (log-odds) "
          "requires space=probability",
          std::string("identity"),
          {"identity", "logit"}};
}

OptionInfo evaluations_option(std::string summary, int64_t fallback, double min) {
  return {"max-evals", std::move(summary), fallback, {}, min, 1e9};
}

OptionInfo target_error_option() {
  return {"target-error",
          "stop when every standard error is below this; 0: use all samples",
          0.0,
          {},
          0,
          1e9};
}

HidingOptions linked_hiding_options(const OptionReader& options) {
  HidingOptions hiding = hiding_options(options);
  if (options.word("link") == "identity") return hiding;
  if (hiding.space != OutputSpace::kProbability) {
    throw InvalidInput(fmt::format(
        "link=logit takes the log-odds of probabilities, but space={}: add space=probability",
        options.word("space")));
  }
  hiding.link = GameLink::kLogit;
  return hiding;
}

uint32_t numpy_seed(const Run& run) { return numpy_seed(run.seed()); }

std::string stopped_note(size_t done, size_t all, const std::string& what) {
  return fmt::format("Stopped after {} of {} {}: what was not reached has no score.", done, all,
                     what);
}

Watch watch_of(const Run& run) {
  return [&run](int64_t evaluations, int64_t of) { return run.goes_on(evaluations, of); };
}

}  // namespace whyformer
