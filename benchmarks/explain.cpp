// Forward, and forward + gradients of all attention maps, of a BERT with random weights: as time and as
// a share of the measured multiply-add peak. benchmarks/explain (a script) runs this beside PyTorch and
// ONNX Runtime.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "graph/pass.h"
#include "graph/walk_back.h"
#include "models/text_model.h"
#include "peak.h"

namespace whyformer {
namespace {

constexpr int64_t kLayers = 12, kWidth = 768, kHeads = 12, kInner = 3072, kVocabulary = 30522;

// Random weights under BERT's names, handed to the loader as if a folder held them.
StoredTensor random_weights(std::vector<int64_t> shape, const std::string& name, double deviation,
                            double offset) {
  int64_t count = 1;
  for (const int64_t length : shape) count *= length;
  const CounterRandom random(1, name, 0);
  // A block of draws, repeated: drawing 110 million normals would take longer than the benchmark.
  std::vector<float> block(4099);
  for (size_t i = 0; i < block.size(); ++i) {
    block[i] = static_cast<float>(offset + deviation * random.normal(static_cast<int64_t>(i)));
  }
  std::string bytes(count * sizeof(float), '\0');
  auto* out = reinterpret_cast<float*>(bytes.data());
  for (int64_t i = 0; i < count; ++i) out[i] = block[i % block.size()];
  return {WeightType::kF32, std::move(shape), bytes_of(std::move(bytes))};
}

StoredTensors bert_weights() {
  StoredTensors tensors;
  const auto weight = [&](const std::string& name, std::vector<int64_t> shape) {
    tensors[name] = random_weights(std::move(shape), name, 0.02, 0);
  };
  const auto linear = [&](const std::string& name, int64_t out, int64_t in) {
    weight(name + ".weight", {out, in});
    weight(name + ".bias", {out});
  };
  const auto norm = [&](const std::string& name) {
    tensors[name + ".weight"] = random_weights({kWidth}, name, 0.02, 1);
    weight(name + ".bias", {kWidth});
  };
  const std::string embeddings = "bert.embeddings.";
  weight(embeddings + "word_embeddings.weight", {kVocabulary, kWidth});
  weight(embeddings + "position_embeddings.weight", {512, kWidth});
  weight(embeddings + "token_type_embeddings.weight", {2, kWidth});
  norm(embeddings + "LayerNorm");
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    const std::string base = fmt::format("bert.encoder.layer.{}.", layer);
    for (const char* part : {"query", "key", "value"}) {
      linear(base + "attention.self." + part, kWidth, kWidth);
    }
    linear(base + "attention.output.dense", kWidth, kWidth);
    norm(base + "attention.output.LayerNorm");
    linear(base + "intermediate.dense", kInner, kWidth);
    linear(base + "output.dense", kWidth, kInner);
    norm(base + "output.LayerNorm");
  }
  linear("bert.pooler.dense", kWidth, kWidth);
  linear("classifier", 2, kWidth);
  return tensors;
}

std::string safetensors_of(const StoredTensors& tensors) {
  std::vector<NamedFloats> named;
  for (const auto& [name, tensor] : tensors) {
    const auto* values = reinterpret_cast<const float*>(tensor.data.view.data());
    named.push_back({name, tensor.shape, {values, static_cast<size_t>(tensor.count())}});
  }
  return write_safetensors(named);
}

std::shared_ptr<const TextModel> random_bert() {
  const nlohmann::json config{{"model_type", "bert"},
                              {"architectures", {"BertForSequenceClassification"}},
                              {"hidden_size", kWidth},
                              {"num_hidden_layers", kLayers},
                              {"num_attention_heads", kHeads},
                              {"intermediate_size", kInner}};
  const Bytes weights = bytes_of(safetensors_of(bert_weights()));
  return TextModel::load(
      [&](std::string_view name) -> std::optional<Bytes> {
        if (name == "config.json") return bytes_of(config.dump());
        if (name == "model.safetensors") return weights;
        if (name == "vocab.txt") return bytes_of("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n");
        return std::nullopt;
      },
      "random BERT-base");
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename Work>
double best_seconds(Work work, double budget) {
  work();
  double best = 1e9;
  const double start = now();
  for (int round = 0; round < 3 || now() - start < budget; ++round) {
    const double begin = now();
    work();
    best = std::min(best, now() - begin);
  }
  return best;
}

// Operations that are really done (a multiply-add counts as two): after the last attention map only the
// read-out row is computed, and on the way back nothing below the first map.
struct Operations {
  double forward = 0;
  double backward = 0;
};

Operations operations(double n) {
  const double square = kWidth * kWidth, wide = kWidth * kInner;
  const double layer_weights = n * (4 * square + 2 * wide);
  const double attention = n * n * kWidth;  // one product of all heads
  const double upper = kLayers - 1;
  Operations count;
  // Last layer: queries, keys, values and scores of all tokens.
  count.forward = upper * (layer_weights + 2 * attention) + n * 3 * square + attention;
  // Middle layers: every weight once, four attention products. Last: scores and the three projections.
  // First: down to its own map.
  count.backward = (upper - 1) * (layer_weights + 4 * attention) + (n * 3 * square + 2 * attention) +
                   (n * (square + 2 * wide) + attention);
  return {2 * count.forward, 2 * count.backward};
}

nlohmann::json measure(const TextModel& model, int64_t tokens, double budget) {
  const auto graph = model.graph({.tokens = tokens});
  TokenBatch batch;
  batch.ids.emplace_back();
  for (int64_t i = 0; i < tokens; ++i) batch.ids[0].push_back(1000 + i * 37 % 20000);
  batch.types.emplace_back(tokens, 0);
  const Feeds feeds = model.feeds(*graph, batch);
  std::vector<Value> maps;
  for (const AttentionSite& site : graph->found.sites) maps.push_back(site.attention);
  Tensor seed = Tensor::zeros({1, 2});
  seed.slice(1, 1, 1).fill(1);
  const double forward = best_seconds(
      [&] { run(graph->graph, feeds, {.outputs = {graph->output}}); }, budget);
  const double both = best_seconds(
      [&] {
        std::vector<Value> outputs = maps;
        outputs.push_back(graph->output);
        const Pass pass = run(graph->graph, feeds, {.keep = Keep::kGradients, .outputs = outputs});
        walk_back(graph->graph, pass, graph->output, seed, gradient_rule(), maps);
      },
      budget);
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
  const auto model = random_bert();
  if (serve) {
    for (long tokens = 0; std::scanf("%ld", &tokens) == 1;) {
      fmt::print("{}\n", measure(*model, std::clamp(tokens, 1L, 512L), 0.5).dump());
      std::fflush(stdout);
    }
    return 0;
  }
  fmt::print("{:>7}{:>12}{:>10}{:>22}{:>10}{:>12}\n", "tokens", "forward ms", "of peak",
             "forward + gradients", "of peak", "memory MB");
  for (const int64_t tokens : {8, 16, 64, 128, 512}) {
    const nlohmann::json row = measure(*model, tokens, 1.0);
    fmt::print("{:>7}{:>12.1f}{:>9.0f}%{:>22.1f}{:>9.0f}%{:>12}\n", tokens,
               row["forward_ms"].get<double>(), 100 * row["forward_share_of_peak"].get<double>(),
               row["both_ms"].get<double>(), 100 * row["both_share_of_peak"].get<double>(),
               row["memory_mb"].get<int64_t>());
  }
  return 0;
}
