#include "random_bert.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "formats/weights.h"
#include "models/model_files.h"
#include "readers/load_readers.h"

namespace whyformer {
namespace {

constexpr int64_t kVocabulary = 30522;

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
    tensors[name + ".weight"] = random_weights({kBertWidth}, name, 0.02, 1);
    weight(name + ".bias", {kBertWidth});
  };
  const std::string embeddings = "bert.embeddings.";
  weight(embeddings + "word_embeddings.weight", {kVocabulary, kBertWidth});
  weight(embeddings + "position_embeddings.weight", {512, kBertWidth});
  weight(embeddings + "token_type_embeddings.weight", {2, kBertWidth});
  norm(embeddings + "LayerNorm");
  for (int64_t layer = 0; layer < kBertLayers; ++layer) {
    const std::string base = fmt::format("bert.encoder.layer.{}.", layer);
    for (const char* part : {"query", "key", "value"}) {
      linear(base + "attention.self." + part, kBertWidth, kBertWidth);
    }
    linear(base + "attention.output.dense", kBertWidth, kBertWidth);
    norm(base + "attention.output.LayerNorm");
    linear(base + "intermediate.dense", kBertInner, kBertWidth);
    linear(base + "output.dense", kBertWidth, kBertInner);
    norm(base + "output.LayerNorm");
  }
  linear("bert.pooler.dense", kBertWidth, kBertWidth);
  linear("classifier", 2, kBertWidth);
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

}  // namespace

std::shared_ptr<const TextReader> random_bert() {
  const nlohmann::json config{{"model_type", "bert"},
                              {"architectures", {"BertForSequenceClassification"}},
                              {"hidden_size", kBertWidth},
                              {"num_hidden_layers", kBertLayers},
                              {"num_attention_heads", kBertHeads},
                              {"intermediate_size", kBertInner}};
  const Bytes weights = bytes_of(safetensors_of(bert_weights()));
  const FileLookup files = [config, weights](std::string_view name) -> std::optional<Bytes> {
    if (name == "config.json") return bytes_of(config.dump());
    if (name == "model.safetensors") return weights;
    if (name == "vocab.txt") return bytes_of("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n");
    return std::nullopt;
  };
  const LoadedReaders loaded = readers_of_folder(files, weights_in(files), "random BERT-base");
  return std::dynamic_pointer_cast<const TextReader>(loaded.readers.at(0));
}

Encoding some_tokens(int64_t count) {
  Encoding encoding;
  for (int64_t i = 0; i < count; ++i) {
    encoding.ids.push_back(1000 + i * 37 % 20000);
    encoding.type_ids.push_back(0);
    encoding.tokens.push_back(std::to_string(i));
    encoding.offsets.push_back({});
    encoding.segment.push_back(0);
    encoding.special.push_back(i == 0 || i == count - 1);
    encoding.word.push_back(encoding.special.back() ? -1 : i);
  }
  return encoding;
}

}  // namespace whyformer
