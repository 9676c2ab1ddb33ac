#include "explain/method.h"
#include "explain/token_gradients.h"

namespace whyformer {

// ‖∂y/∂e_i‖ of each token's vector.
const Method kSaliency{
    {.name = "saliency",
     .summary = "length of the gradient at each token's vector",
     .paper = "Simonyan et al., ICLR workshop 2014; for text: Li et al., NAACL 2016",
     .cost = "1 forward, 1 backward",
     .class_specific = true,
     .is_signed = false,
     .options = {place_option(),
                 {"norm", "how the gradient's length is taken", std::string("l2"),
                  {"l2", "l1", "max"}}},
     .presets = {}},
    {.embedding_gradient = true},
    [](Explained& explained, const OptionReader& options) {
      return Scores{row_norms(explained.embedding_gradient(place_named(options.word("at"))),
                              norm_named(options.word("norm")))};
    }};

}  // namespace whyformer
