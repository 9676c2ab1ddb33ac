// Forward, and forward + gradients of all attention maps, of a BERT with random weights: as time
// and as a share of the measured multiply-add peak. benchmarks/explain (a script) runs this beside
// PyTorch and ONNX Runtime.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "best_seconds.h"
#include "graph/pass.h"
#include "graph/walk_back.h"
#include "peak.h"
#include "random_bert.h"

namespace whyformer {
namespace {

// Operations that are really done (a multiply-add counts as two): after the last attention map only
// the read-out row is computed, and on the way back nothing below the first map.
struct Operations {
  double forward = 0;
  double backward = 0;
};

Operations operations(double n) {
  const double square = kBertWidth * kBertWidth, wide = kBertWidth * kBertInner;
  const double layer_weights = n * (4 * square + 2 * wide);
  const double attention = n * n * kBertWidth;  // one product of all heads
  const double upper = kBertLayers - 1;
  Operations count;
  // Last layer: queries, keys, values and scores of all tokens.
  count.forward = upper * (layer_weights + 2 * attention) + n * 3 * square + attention;
  // Middle layers: every weight once, four attention products. Last: scores and the three
  // projections. First: down to its own map.
  count.backward = (upper - 1) * (layer_weights + 4 * attention) +
                   (n * 3 * square + 2 * attention) + (n * (square + 2 * wide) + attention);
  return {2 * count.forward, 2 * count.backward};
}

nlohmann::json measure(const TextSource& source, int64_t tokens) {
  const auto graph = source.graph(text_key(tokens));
  TokenBatch batch;
  batch.ids.emplace_back();
  for (int64_t i = 0; i < tokens; ++i) batch.ids[0].push_back(1000 + i * 37 % 20000);
  batch.types.emplace_back(tokens, 0);
  const Feeds feeds = source.feeds(*graph, samples_of(batch));
  std::vector<Value> maps;
  for (const AttentionSite& site : graph->found.sites) maps.push_back(site.attention);
  Tensor seed = Tensor::zeros({1, 2});
  seed.slice(1, 1, 1).fill(1);
  const double forward =
      best_seconds([&] { run(graph->graph, feeds, {.outputs = {graph->output}}); });
  const double both = best_seconds([&] {
    std::vector<Value> outputs = maps;
    outputs.push_back(graph->output);
    const Pass pass = run(graph->graph, feeds, {.keep = Keep::kGradients, .outputs = outputs});
    walk_back(graph->graph, pass, graph->output, seed, gradient_rule(), maps);
  });
  const double peak = measure_peak_gflops() * 1e9;
  const double n = static_cast<double>(tokens);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const Operations done = operations(n);
  return {{"tokens", tokens},
          {"forward_ms", forward * 1e3},
          {"both_ms", both * 1e3},
          {"forward_share_of_peak", done.forward / forward / peak},
          {"both_share_of_peak", (done.forward + done.backward) / both / peak},
          {"peak_gflops", peak / 1e9},
          {"memory_mb", usage.ru_maxrss / 1024}};
}

}  // namespace
}  // namespace whyformer

// With `--serve`, reads token counts from standard input and answers each at once, so that the
// script can take turns with its peers.
int main(int argc, char** argv) {
  using namespace whyformer;
  const bool serve = argc > 1 && std::strcmp(argv[1], "--serve") == 0;
  const auto reader = random_bert();
  if (serve) {
    for (long tokens = 0; std::scanf("%ld", &tokens) == 1;) {
      fmt::print("{}\n", measure(reader->source(), std::clamp(tokens, 1L, 512L)).dump());
      std::fflush(stdout);
    }
    return 0;
  }
  fmt::print("{:>7}{:>12}{:>10}{:>22}{:>10}{:>12}\n", "tokens", "forward ms", "of peak",
             "forward + gradients", "of peak", "memory MB");
  for (const int64_t tokens : {8, 16, 64, 128, 512}) {
    const nlohmann::json row = measure(reader->source(), tokens);
    fmt::print("{:>7}{:>12.1f}{:>9.0f}%{:>22.1f}{:>9.0f}%{:>12}\n", tokens,
               row["forward_ms"].get<double>(), 100 * row["forward_share_of_peak"].get<double>(),
               row["both_ms"].get<double>(), 100 * row["both_share_of_peak"].get<double>(),
               row["memory_mb"].get<int64_t>());
  }
  return 0;
}
