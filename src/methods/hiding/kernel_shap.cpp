#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "methods/hiding/input_game.h"

namespace whyformer {

namespace {

void note_few_coalitions(const GameValues& found, int64_t players, Scores& scores) {
  const int64_t coalitions = found.evaluations - 2;
  const std::string remedy = found.finished ? "Raise kernel-shap.samples (0: 2048 + 2M)."
                                            : "Let it run longer for a better estimate.";
  if (!found.determined) {
    scores.notes.push_back(fmt::format(
        "{} coalitions underdetermine {} players (a coalition and its complement give one "
        "equation). The minimum-norm solution is shown; its error is unknown. {}",
        coalitions, players, remedy));
  } else if (std::ranges::any_of(found.errors, [](double error) { return std::isinf(error); })) {
    scores.notes.push_back(
        fmt::format("{} coalitions barely determine the values of {} players: standard errors are "
                    "unknown, and the values are rough and may be far off. {}",
                    coalitions, players, remedy));
  }
}

}  // namespace

const Method kKernelShap{
    {.name = "kernel-shap",
     .summary = "Shapley values by weighted linear regression over sampled coalitions",
     .paper = "Lundberg & Lee, NeurIPS 2017",
     .cost = "2048 + 2M forwards, at most 2^M",
     .class_specific = true,
     .is_signed = true,
     .model_agnostic = true,
     .options =
         {hiding_option(),
          space_option(),
          link_option(),
          {"samples",
           "number of coalitions sampled; 0: 2048 + 2M",
           int64_t{0},
           {},
           0,
           static_cast<double>(kMaxFitSamples)},
          {"selection",
           "feature selection of the regression: none (all units), num_features(N), aic, bic, "
           "auto, or a lasso penalty (a number). With a selection the scores are not Shapley "
           "values",
           std::string("none")},
          target_error_option()},
     .presets = {{"shap",
                  "the shap package since 0.47: at most ten tokens, its text masker",
                  {{"how", std::string("retokenize")},
                   {"selection", std::string("num_features(10)")}}}}},
    {},
    [](Run& run, const OptionReader& options) {
      InputGame game(run, linked_hiding_options(options));
      const std::vector<bool> varying = game.varying();
      const GameValues found =
          kernel_shap(game,
                      {.samples = options.whole("samples"),
                       .seed = numpy_seed(run),
                       .selection = kernel_selection(options.word("selection")),
                       .target_error = options.number("target-error")},
                      watch_of(run));
      Scores scores = game.sampled_scores(found, options.word("space"));
      note_few_coalitions(found, std::ranges::count(varying, true), scores);
      return scores;
    },
    OnSeveralParts::kTogether};

}  // namespace whyformer
