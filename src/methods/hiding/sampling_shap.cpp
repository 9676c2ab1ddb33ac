#include "methods/hiding/input_game.h"

namespace whyformer {

const Method kSamplingShap{
    {.name = "sampling-shap",
     .summary =
         "Shapley values token by token from random orders; those that vary most are sampled most",
     .paper = "Štrumbelj & Kononenko, 2014",
     .cost = "2 forwards per sample",
     .class_specific = true,
     .is_signed = true,
     .options = {hiding_option(),
                 space_option(),
                 {"samples", "two coalitions each", int64_t{2000}, {}, 2, 1e9},
                 {"target-error",
                  "stop when no standard error is larger; 0: take all samples",
                  0.0,
                  {},
                  0,
                  1e9}},
     .presets = {{"shap",
                  "the shap package's way to mask text",
                  {{"how", std::string("retokenize")}}}}},
    {},
    [](Explained& explained, const OptionReader& options) {
      InputGame game(explained, hiding_options(options));
      const GameValues found = sampling_shap(game,
                                             {.samples = options.whole("samples"),
                                              .seed = numpy_seed(explained),
                                              .target_error = options.number("target-error")},
                                             watch_of(explained));
      return game.sampled_scores(found, options.word("space"));
    },
    OnPairs::kTogether};

}  // namespace whyformer
