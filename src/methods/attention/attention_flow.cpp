#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "methods/attention/max_flow.h"
#include "methods/attention/rollout.h"
#include "methods/method.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

struct AttentionFlowOptions {
  int64_t max_tokens = 64;
};

// For each source row: maximum flow to every input token, divided by their sum.
Scores attention_flow(Run& run, const AttentionFlowOptions& options) {
  run.require_one_stream(
      "attention-flow",
      "its network has one row of nodes per layer; gae and rollout know several streams");
  const int64_t tokens = run.tokens();
  if (tokens > options.max_tokens) {
    throw InvalidInput(fmt::format(
        "attention-flow solves a maximum-flow problem per token and there are {} tokens; raise "
        "the option max-tokens to {} if you can wait",
        tokens, tokens));
  }
  std::vector<Matrix> layers;
  for (int layer = 0; layer < run.layers(); ++layer) {
    layers.push_back(rollout_factor(run.attention(layer), {}, run.read_out_row()));
  }
  // A network with a capacity that is not a number has no flows.
  for (const Matrix& layer : layers) {
    if (std::ranges::all_of(layer.values, [](double capacity) { return std::isfinite(capacity); }))
      continue;
    return {std::vector<double>(tokens, std::nan(""))};
  }
  LayeredFlow flow(layers);
  const std::vector<double> sources = run.read_out();
  Scores scores{std::vector<double>(tokens, 0.0)};
  int64_t at_bound = 0, pairs = 0;
  for (int64_t source = 0; source < tokens; ++source) {
    if (sources[source] == 0) continue;
    std::vector<double> row(tokens);
    double sum = 0;
    for (int64_t sink = 0; sink < tokens; ++sink) {
      const LayeredFlow::Result result = flow.between(source, sink);
      row[sink] = result.flow;
      sum += result.flow;
      at_bound += result.at_bound;
      ++pairs;
      run.report_progress(pairs, run.read_out_row() ? tokens : tokens * tokens);
    }
    for (int64_t sink = 0; sink < tokens; ++sink) {
      scores.values[sink] += sources[source] * (sum > 0 ? row[sink] / sum : 0);
    }
  }
  if (run.layers() > 1 && at_bound == pairs) {
    scores.notes.push_back(
        "Every flow reached the bound set by the first and last layer alone: these scores say "
        "nothing about the layers between.");
  } else if (run.layers() > 1 && at_bound > 0) {
    scores.notes.push_back(
        fmt::format("{} of {} flows reached the bound set by the first and last layer alone.",
                    at_bound, pairs));
  }
  return scores;
}

}  // namespace

const Method kAttentionFlow{
    {.name = "attention-flow",
     .summary = "maximum flow from the read-out token to each token, attention as capacity",
     .paper = "Abnar & Zuidema, ACL 2020",
     .cost = "1 forward, M maximum flows",
     .class_specific = false,
     .is_signed = false,
     .options =
         {{"max-tokens", "maximum input length; longer inputs are refused", int64_t{64}, {}, 1}},
     .presets = {}},
    {.attention = true},
    [](Run& run, const OptionReader& options) {
      return attention_flow(run, {.max_tokens = options.whole("max-tokens")});
    }};

}  // namespace whyformer
