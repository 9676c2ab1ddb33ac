#include <fmt/format.h>

#include <limits>

#include "methods/blocks/block_methods.h"
#include "methods/blocks/decomposition.h"
#include "methods/method.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kMostBytes = int64_t{8} << 30;

BiasShare bias_share_named(const std::string& name) {
  if (name == "norm") return BiasShare::kNorm;
  if (name == "equal") return BiasShare::kEqual;
  if (name == "abssim") return BiasShare::kAbsoluteSimilarity;
  if (name == "dot") return BiasShare::kDot;
  if (name == "cls") return BiasShare::kOneToken;
  return name == "none" ? BiasShare::kNone : BiasShare::kAbsoluteDot;
}

void check_memory(const Run& run, const EncoderBlock& block) {
  const int64_t bytes = Decomposition::memory_needed(run.graph().graph, block);
  if (bytes <= kMostBytes) return;
  throw InvalidInput(fmt::format(
      "decompx keeps a vector for every pair of the {} tokens, {:.1f} GB, and may take {:.1f} GB: "
      "shorten the text or choose another method",
      run.tokens(), static_cast<double>(bytes) / 1e9, static_cast<double>(kMostBytes) / 1e9));
}

// Shares of the target are known behind the last layer only.
Scores stopped_after(size_t layer, size_t layers, int64_t tokens) {
  Scores scores{std::vector<double>(tokens, std::numeric_limits<double>::quiet_NaN())};
  scores.stopped = true;
  scores.notes.push_back(fmt::format(
      "Stopped after {} of {} layers: scores are known behind the last one, so no token has one.",
      layer, layers));
  return scores;
}

// The target as a sum of one share per token: states are split into vectors by source at the first
// block, every operator acts on the vectors, and every bias is shared out over them.
Scores decompx(Run& run, const Sharing& sharing) {
  const Graph& graph = run.graph().graph;
  const std::vector<EncoderBlock> blocks = blocks_of(run);
  const std::vector<const Node*> head = find_head(graph, blocks.back(), run.graph().output);
  Decomposition::check(graph, blocks, head);
  check_memory(run, blocks.front());
  Decomposition decomposition(graph, run.pass(), 0, sharing);
  size_t layer = 0;
  try {
    while (layer < blocks.size()) {
      decomposition.through(blocks[layer]);
      ++layer;
      run.report_progress(static_cast<int64_t>(layer), static_cast<int64_t>(blocks.size()));
    }
    for (const Node* node : head) decomposition.through_head(*node);
  } catch (const Interrupted&) {
    if (layer == 0) throw;
    return stopped_after(layer, blocks.size(), run.tokens());
  }
  Scores scores{decomposition.vectors().slice(2, run.target(), 1).to_doubles()};
  double sum = 0;
  for (const double score : scores.values) sum += score;
  scores.completeness_gap = sum - run.target_value();
  return scores;
}

}  // namespace

const Method kDecompX{
    {.name = "decompx",
     .summary = "decomposition of every state into one vector per token, up to the output",
     .paper = "Modarressi et al., ACL 2023",
     .cost = "about M forwards",
     .class_specific = true,
     .is_signed = true,
     .options =
         {{"biases",
           "distribution of biases over the tokens; with none the scores do not sum to the output",
           std::string("absdot"),
           {"absdot", "norm", "equal", "abssim", "dot", "cls", "none"}},
          {"activation",
           "linearisation of activations: through the origin, or tangent",
           std::string("zero-origin"),
           {"zero-origin", "tangent"}}},
     .presets = {}},
    {.attention = true, .values = true},
    [](Run& run, const OptionReader& options) {
      return decompx(run, {.biases = bias_share_named(options.word("biases")),
                           .activation = options.word("activation") == "tangent"
                                             ? ActivationShare::kTangent
                                             : ActivationShare::kZeroOrigin,
                           .bias_token = run.read_out_row().value_or(0)});
    }};

}  // namespace whyformer
