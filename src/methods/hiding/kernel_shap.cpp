#include <fmt/format.h>

#include <algorithm>

#include "methods/hiding/input_game.h"

namespace whyformer {

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
          {"samples", "number of coalitions sampled; 0: 2048 + 2M", int64_t{0}, {}, 0, 1e9},
          {"selection",
           "feature selection of the regression: none (all units), num_features(N), aic, bic, "
           "auto, or a lasso penalty (a number). With a selection the scores are not Shapley "
           "values",
           std::string("none")},
          {"target-error",
           "stop when every standard error is below this; 0: use all samples",
           0.0,
           {},
           0,
           1e9}},
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
      if (!found.determined) {
        scores.notes.push_back(fmt::format(
            "{} coalitions leave the values of {} players open (one and its complement are one "
            "equation): these are the shortest of many solutions, of unknown error and perhaps of "
            "the wrong sign. Raise kernel-shap.samples (0: 2048 + 2M).",
            found.evaluations - 2, std::count(varying.begin(), varying.end(), true)));
      }
      return scores;
    },
    OnSeveralParts::kTogether};

}  // namespace whyformer
