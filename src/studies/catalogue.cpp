#include <vector>

#include "whyformer/methods.h"

namespace whyformer {

std::span<const MethodInfo> studies() {
  static const std::vector<MethodInfo> entries{
      {.name = "heads",
       .summary = "importance and roles of each attention head over a corpus, and pruning curves",
       .paper = "Michel et al., NeurIPS 2019; Voita et al., ACL 2019",
       .cost = "1 forward, 1 backward per example",
       .class_specific = true,
       .is_signed = false,
       .scope = Scope::kGlobal},
      {.name = "importance",
       .summary = "importance of words or columns over a data set; with labels: permutation, SAGE",
       .paper = "Breiman, 2001; Covert, Lundberg & Lee, NeurIPS 2020",
       .cost = "1 explanation per example",
       .class_specific = false,
       .is_signed = true,
       .model_agnostic = true,
       .scope = Scope::kGlobal},
      {.name = "learned",
       .summary = "linear probes of every layer: what its activations tell, with controls",
       .paper = "Alain & Bengio, 2017; Hewitt & Liang, EMNLP 2019",
       .cost = "2 forwards per example",
       .class_specific = false,
       .is_signed = true,
       .scope = Scope::kGlobal},
      {.name = "tcav",
       .summary = "sensitivity of a class to concepts given by examples, with significance tests",
       .paper = "Kim et al., ICML 2018",
       .cost = "1 forward, 1 backward per example",
       .class_specific = true,
       .is_signed = true,
       .scope = Scope::kGlobal},
  };
  return entries;
}

}  // namespace whyformer
