// Restarts behind the last layer's attention beside whole runs: 100 permutations of 12 heads, and a
// step of the adversarial search with five candidates.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "best_seconds.h"
#include "graph/walk_back.h"
#include "random_bert.h"
#include "studies/debate/attention_tail.h"

namespace whyformer {
namespace {

constexpr int64_t kPermutations = 100, kCandidates = 5;

std::vector<double> repeated(const std::vector<double>& map, int64_t count) {
  std::vector<double> maps;
  for (int64_t i = 0; i < count; ++i) maps.insert(maps.end(), map.begin(), map.end());
  return maps;
}

void measure(const TextReader& reader, int64_t tokens) {
  const Run one(reader.input_of({some_tokens(tokens), {}}, {}),
                {.needs = {.attention = true, .values = true}});
  const AttentionTail tail(one, static_cast<int>(kBertLayers) - 1);
  const FedGraph single = one.input().copies(1), several = one.input().copies(kCandidates);
  const double forward = best_seconds(
      [&] { run(single.graph->graph, single.feeds, {Keep::kOutputs, {single.graph->output}}); });
  const std::vector<double> permuted = repeated(tail.observed(), kPermutations * kBertHeads);
  const double permutations = best_seconds([&] { tail.outputs(permuted); });
  const std::vector<double> candidates = repeated(tail.observed(), kCandidates);
  const double step = best_seconds([&] {
    tail.slopes(candidates, [](int64_t, const std::vector<double>& outputs) {
      return std::vector<double>(outputs.size(), 1.0);
    });
  });
  const ModelGraph& graph = *several.graph;
  const Value map = graph.found.sites.back().attention;
  const double whole = best_seconds([&] {
    const Pass pass = run(graph.graph, several.feeds, {Keep::kGradients, {graph.output, map}});
    Tensor seed = Tensor::zeros(graph.graph.shape(graph.output));
    seed.fill(1);
    walk_back(graph.graph, pass, graph.output, seed, gradient_rule(), {map}).at(map);
  });
  fmt::print(
      "{:4} tokens: forward {:.1f} ms; 100 permutations of 12 heads {:.1f} ms = {:.2f} "
      "forwards; search step {:.2f} ms, through the whole model {:.1f} ms = {:.0f}x\n",
      tokens, 1e3 * forward, 1e3 * permutations, permutations / forward, 1e3 * step, 1e3 * whole,
      whole / step);
}

}  // namespace
}  // namespace whyformer

int main(int argc, char** argv) {
  const auto reader = whyformer::random_bert();
  std::vector<int64_t> lengths;
  for (int i = 1; i < argc; ++i) lengths.push_back(std::atol(argv[i]));
  if (lengths.empty()) lengths = {32, 128, 256};
  for (const int64_t tokens : lengths) whyformer::measure(*reader, tokens);
}
