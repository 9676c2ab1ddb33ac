#include "methods/relevance/token_relevance.h"

namespace whyformer {

const Method kAttnLrp{{.name = "attn-lrp",
                       .summary = "LRP through attention, softmax included",
                       .paper = "Achtibat et al., ICML 2024",
                       .cost = "1 forward, 1 backward",
                       .class_specific = true,
                       .is_signed = true,
                       .options = {relevance_depth_option("input"), relevance_form_option()},
                       .presets = {}},
                      {.values = true},
                      [](Run& run, const OptionReader& options) {
                        return token_relevance_by_form(run, "attn-lrp", options);
                      }};

}  // namespace whyformer
