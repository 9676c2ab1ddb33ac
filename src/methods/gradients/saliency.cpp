#include "methods/gradients/token_gradients.h"
#include "methods/method.h"

namespace whyformer {

// ‖∂y/∂e_i‖ of each token's vector, or of each patch's pixels.
const Method kSaliency{
    {.name = "saliency",
     .summary = "norm of the gradient at each token's vector or patch's pixels",
     .paper = "Simonyan et al., ICLR workshop 2014; for text: Li et al., NAACL 2016",
     .cost = "1 forward, 1 backward",
     .class_specific = true,
     .is_signed = false,
     .options = {depth_option(),
                 {"norm", "norm of the gradient", std::string("l2"), {"l2", "l1", "max"}}},
     .presets = {}},
    {.embedding_gradient = true},
    [](Run& run, const OptionReader& options) {
      const Depth depth = depth_named(run.input(), options.word("at"));
      const Norm norm = norm_named(options.word("norm"));
      return folded(run.input(), depth, run.embedding_gradient(depth),
                    [norm](const Tensor& rows) { return row_norms(rows, norm); });
    }};

}  // namespace whyformer
