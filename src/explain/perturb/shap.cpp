#include "explain/perturb/partition_shap.h"

namespace whyformer {

// shap.Explainer takes the Partition explainer where there is a tree over the players, as texts and pictures have.
const Method kShap{
    {.name = "shap",
     .summary = "what shap.Explainer chooses: partition-shap for texts and pictures",
     .paper = "Lundberg & Lee, NeurIPS 2017; the shap package",
     .cost = "at most max-evals forwards",
     .class_specific = true,
     .is_signed = true,
     .options = {hiding_option(), space_option(), {"max-evals", "coalitions to ask for", int64_t{500}, {}, 2, 1e9}},
     .presets = {{"shap", "the shap package's way to mask text", {{"how", std::string("retokenize")}}}}},
    {},
    [](Explained& explained, const OptionReader& options) {
      return partition_scores(explained, {.max_evals = options.whole("max-evals")}, hiding_options(options),
                              options.word("space"));
    }};

}  // namespace whyformer
