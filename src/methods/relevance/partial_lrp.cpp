#include "methods/attention/stream_methods.h"

namespace whyformer {
namespace {

struct PartialLrpOptions {
  Run::RelevanceKind relevance{"lrp-orig"};
  int64_t layer = -1;  // negative counts from the output
  bool positive = true;
  OwnEntry own = OwnEntry::kZero;
};

// The read-out row of E_h R⁺ at one attention map: relevance that stops there.
Scores partial_lrp(Run& run, const PartialLrpOptions& options) {
  Scores scores =
      read_rows(run, read_maps(run, options.layer, "partial-lrp.layer"), [&](const ReadMap& read) {
        const Tensor relevance = run.attention_relevance(options.relevance, read.layer);
        Tensor ones = Tensor::empty(relevance.shape(), relevance.dtype());
        ones.fill(1);
        const Matrix map = options.positive ? positive_product(relevance, ones)
                                            : fuse_heads(relevance, HeadFusion::kMean);
        return times(read.read, map);
      });
  treat_own_entry(scores.values, run.read_out_row(), options.own);
  for (std::string& note : run.policy_notes(options.relevance.policy))
    scores.notes.push_back(std::move(note));
  return scores;
}

}  // namespace

const Method kPartialLrp{
    {.name = "partial-lrp",
     .summary = "LRP down to the last attention map",
     .paper = "Voita et al., ACL 2019; as the baseline of Chefer et al., CVPR 2021",
     .cost = "1 forward, 1 backward",
     .class_specific = true,
     .is_signed = false,
     .options = {{"layer", "index of the attention map; -1: the last", int64_t{-1}},
                 {"positive", "keep only the positive relevance of each head", true},
                 policy_option("lrp-orig"),
                 own_entry_option("zero")},
     .presets = {{"chefer-streams",
                  "Chefer et al.'s code for LXMERT and DETR before min-max scaling: rules of "
                  "transformer-attribution, signed",
                  {{"policy", std::string("chefer")}, {"positive", false}}}}},
    {.attention = true, .values = true},
    [](Run& run, const OptionReader& options) {
      return partial_lrp(run, {.relevance = {options.word("policy")},
                               .layer = options.whole("layer"),
                               .positive = options.flag("positive"),
                               .own = own_entry_named(options.word("own"))});
    }};

}  // namespace whyformer
