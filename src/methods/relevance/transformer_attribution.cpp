#include <fmt/format.h>

#include "methods/attention/stream_methods.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

struct AttributionOptions {
  Run::RelevanceKind relevance{"chefer"};
  std::string weight = "gradient";
  std::string blocks = "all";
  int64_t start = 0;  // first layer of the product; negative counts from the output
  bool normalise = false;
  OwnEntry own = OwnEntry::kZero;
};

// Ā = E_h (∇A ⊙ R)⁺ of one layer; the ablations weigh R by A, or by nothing.
Matrix weighted_relevance(Run& run, int layer, const AttributionOptions& options) {
  const Tensor relevance = run.attention_relevance(options.relevance, layer);
  if (options.weight == "gradient") {
    return positive_product(run.attention_gradient(layer), relevance);
  }
  if (options.weight == "attention") return positive_product(run.attention(layer), relevance);
  Tensor ones = Tensor::empty(relevance.shape(), relevance.dtype());
  ones.fill(1);
  return positive_product(ones, relevance);
}

int64_t first_layer(const Run& run, int64_t start) {
  const int64_t first = start < 0 ? start + run.layers() : start;
  if (first < 0 || first >= run.layers()) {
    throw InvalidInput(fmt::format("transformer-attribution.start={}: the model has layers 0 to {}",
                                   start, run.layers() - 1));
  }
  return first;
}

// The read-out row of (I + Ā[L-1])···(I + Ā[start]).
std::vector<double> product_row(Run& run, const AttributionOptions& options) {
  const std::vector<double> identity = run.read_out();
  std::vector<double> row = identity;
  const int64_t first = first_layer(run, options.start);
  for (int layer = run.layers() - 1; layer >= first; --layer) {
    Matrix factor = weighted_relevance(run, layer, options);
    add_identity(factor);
    if (options.normalise) normalise_rows(factor);
    row = times(row, factor);
  }
  // Where many rows are read, the identity is spread over all of them.
  if (!run.read_out_row() && options.own != OwnEntry::kKeep && !options.normalise) {
    for (size_t i = 0; i < row.size(); ++i) row[i] -= identity[i];
  }
  return row;
}

// As the authors' code for LXMERT and DETR: the stream that is read by the product of its own
// self-attention, every other by the last attention to it alone.
Scores over_streams(Run& run, const AttributionOptions& options) {
  const Discovery& found = run.found();
  const int64_t first = first_layer(run, options.start);
  Scores scores =
      read_rows(run, read_maps(run, -1, "transformer-attribution.layer"), [&](const ReadMap& read) {
        const bool own = found.sites[read.layer].is_self_attention();
        if (!own || options.blocks == "last")
          return times(read.read, weighted_relevance(run, read.layer, options));
        std::vector<double> row = read.read;
        for (int layer = run.layers() - 1; layer >= first; --layer) {
          const AttentionSite& site = found.sites[layer];
          if (!site.is_self_attention() || site.query_stream != found.read_out.stream) continue;
          Matrix factor = weighted_relevance(run, layer, options);
          add_identity(factor);
          if (options.normalise) normalise_rows(factor);
          row = times(row, factor);
        }
        const bool spread = !read.own && options.own != OwnEntry::kKeep && !options.normalise;
        for (size_t i = 0; spread && i < row.size(); ++i) row[i] -= read.read[i];
        return row;
      });
  treat_own_entry(scores.values, run.read_out_row(), options.own);
  return scores;
}

Scores over_layers(Run& run, const AttributionOptions& options) {
  if (options.blocks == "second") {
    run.require_one_stream("transformer-attribution.blocks=second",
                           "their layers have no common order");
  }
  if (run.several_streams()) return over_streams(run, options);
  std::vector<double> scores;
  if (options.blocks == "all") {
    scores = product_row(run, options);
  } else {
    // The code counts blocks from the input: its second one is blocks[1].
    const int layer = options.blocks == "last" ? run.layers() - 1 : 1;
    if (layer >= run.layers()) {
      throw InvalidInput("transformer-attribution.blocks=second: the model has only one layer");
    }
    scores = times(run.read_out(), weighted_relevance(run, layer, options));
  }
  treat_own_entry(scores, run.read_out_row(), options.own);
  return {std::move(scores)};
}

Scores transformer_attribution(Run& run, const AttributionOptions& options) {
  Scores scores = over_layers(run, options);
  for (std::string& note : run.policy_notes(options.relevance.policy))
    scores.notes.push_back(std::move(note));
  return scores;
}

}  // namespace

const Method kTransformerAttribution{
    {.name = "transformer-attribution",
     .summary = "gradient-weighted relevance of the attention maps over all layers",
     .paper = "Chefer et al., CVPR 2021",
     .cost = "1 forward, 2 backward",
     .class_specific = true,
     .is_signed = false,
     .options = {{"start", "first layer; -1: the last layer only", int64_t{0}},
                 {"normalise", "normalise the rows of each layer's matrix to sum 1", false},
                 {"weight",
                  "weight of the relevance; 'attention' and 'none' are ablations",
                  std::string("gradient"),
                  {"gradient", "attention", "none"}},
                 {"blocks",
                  "layers used; 'last' and 'second' are ablations",
                  std::string("all"),
                  {"all", "last", "second"}},
                 policy_option("chefer"),
                 own_entry_option("zero")},
     .presets =
         {{"cvpr-vit",
           "the authors' ViT evaluation: first layer left out",
           {{"start", int64_t{1}}}},
          {"cvpr-bert",
           "the authors' BERT code: last layer only, rows normalised",
           {{"start", int64_t{-1}}, {"normalise", true}, {"own", std::string("minimum")}}},
          {"without-gradient", "ablation: relevance alone", {{"weight", std::string("none")}}},
          {"last-block", "ablation: last layer only", {{"blocks", std::string("last")}}},
          {"second-block", "ablation: second layer only", {{"blocks", std::string("second")}}}}},
    {.attention = true, .attention_gradient = true, .values = true},
    [](Run& run, const OptionReader& options) {
      return transformer_attribution(run, {.relevance = {options.word("policy")},
                                           .weight = options.word("weight"),
                                           .blocks = options.word("blocks"),
                                           .start = options.whole("start"),
                                           .normalise = options.flag("normalise"),
                                           .own = own_entry_named(options.word("own"))});
    }};

}  // namespace whyformer
