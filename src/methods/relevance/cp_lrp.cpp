#include "methods/relevance/token_relevance.h"

namespace whyformer {

const Method kCpLrp{
    {.name = "cp-lrp",
     .summary = "conservative LRP: attention maps and layer norms held constant",
     .paper = "Ali et al., ICML 2022",
     .cost = "1 forward, 1 backward",
     .class_specific = true,
     .is_signed = true,
     .options = {relevance_depth_option("input"),
                 relevance_form_option(),
                 {"activation",
                  "slope of element-wise functions: the ratio f(x)/x, or the derivative",
                  std::string("ratio"),
                  {"ratio", "derivative"}}},
     .presets = {}},
    {.values = true},
    [](Run& run, const OptionReader& options) {
      const bool ratio = options.word("activation") == "ratio";
      return token_relevance_by_form(run, ratio ? "cp-lrp" : "cp-lrp-derivative", options);
    }};

}  // namespace whyformer
