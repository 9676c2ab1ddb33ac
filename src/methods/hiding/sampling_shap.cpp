#include "methods/hiding/input_game.h"

namespace whyformer {

const Method kSamplingShap{
    {.name = "sampling-shap",
     .summary = "Shapley values by sampling; units of high variance get more samples",
     .paper = "Štrumbelj & Kononenko, 2014",
     .cost = "up to 4000 forwards",
     .class_specific = true,
     .is_signed = true,
     .model_agnostic = true,
     .options =
         {hiding_option(),
          space_option(),
          {"samples", "number of samples, of two coalitions each", int64_t{2000}, {}, 2, 1e9},
          target_error_option()},
     .presets = {{"shap",
                  "text masker of the shap package",
                  {{"how", std::string("retokenize")}}}}},
    {},
    [](Run& run, const OptionReader& options) {
      InputGame game(run, hiding_options(options));
      const GameValues found = sampling_shap(game,
                                             {.samples = options.whole("samples"),
                                              .seed = numpy_seed(run),
                                              .target_error = options.number("target-error")},
                                             watch_of(run));
      return game.sampled_scores(found, options.word("space"));
    },
    OnSeveralParts::kTogether};

}  // namespace whyformer
