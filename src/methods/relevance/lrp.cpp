#include "methods/relevance/token_relevance.h"
#include "run/attention_math.h"

namespace whyformer {

const Method kLrp{
    {.name = "lrp",
     .summary = "layer-wise relevance propagation to the tokens, by any policy",
     .paper = "Bach et al., PLoS ONE 2015; as the baseline of Chefer et al., CVPR 2021",
     .cost = "1 forward, 1 backward",
     .class_specific = true,
     .is_signed = true,
     .options = {policy_option("lrp-orig"), relevance_depth_option("first-layer"),
                 own_entry_option("zero")},
     .presets = {}},
    {.values = true},
    [](Run& run, const OptionReader& options) {
      Scores scores = token_relevance(run, {options.word("policy")}, options);
      treat_own_entry(scores.values, run.read_out_row(), own_entry_named(options.word("own")));
      return scores;
    }};

}  // namespace whyformer
