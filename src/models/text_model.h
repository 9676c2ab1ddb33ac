// A text model as a folder holds it: tokenizer, weights, and graphs built from them on demand.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "graph/attention_sites.h"
#include "graph/pass.h"
#include "inputs/tokenizer.h"
#include "models/encoder.h"

namespace whyformer {

// What the last value of the graph is.
enum class Head {
  kLogits,     // [batch, labels]
  kEmbedding,  // [batch, width]: the pooled hidden states of an encoder without a classifier
  kSimilarity  // [batch, 1]: cosine between that and a given vector
};

// What a graph is built for.
struct GraphKey {
  int64_t batch = 1;
  int64_t tokens = 0;
  bool masked = false;  // takes an attention mask
  Head head = Head::kLogits;
  DType dtype = DType::kFloat32;
  auto operator<=>(const GraphKey&) const = default;
};

struct TextGraph {
  GraphKey key;
  Graph graph;
  EncoderInputs inputs;
  Value pooling;    // [batch, 1, tokens] weights of a masked mean; invalid where not used
  Value reference;  // [batch, width, 1] of the similarity head; invalid elsewhere
  Value word_embeddings;
  Value embeddings;
  Value layers_input;
  Value output;
  Discovery found;
};

// Inputs of equal length for one run. `hidden` marks positions that attention must not see.
struct TokenBatch {
  std::vector<std::vector<int64_t>> ids;
  std::vector<std::vector<int64_t>> types;
  std::vector<std::vector<bool>> hidden;  // empty: nothing is hidden
};

enum class Pooling { kMean, kFirst };

class TextModel {
 public:
  static std::shared_ptr<const TextModel> load(const std::filesystem::path& folder);
  // From files found by name, for models that are part of the program.
  static std::shared_ptr<const TextModel> load(const FileLookup& files, std::string name);

  const std::string& name() const { return name_; }
  std::string architecture() const;
  const Config& config() const { return config_; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  bool has_classifier() const { return labels_ > 0; }
  Pooling pooling() const { return pooling_; }
  // Names of the outputs: labels, or dimensions of the embedding.
  const std::vector<std::string>& output_names() const { return output_names_; }
  std::optional<Problem> problem() const;  // nothing for encoders without a classifier
  // The longest input in tokens, special ones included.
  int64_t max_tokens() const { return max_tokens_; }
  // The id that hides a token, and the id that stands for nothing; where the model has them.
  std::optional<int64_t> mask_id() const { return tokenizer_->mask_id(); }
  std::optional<int64_t> pad_id() const;

  // Built once per key and shared.
  std::shared_ptr<const TextGraph> graph(const GraphKey& key) const;

  // What the graph's inputs get; `reference` [width] only for the similarity head.
  Feeds feeds(const TextGraph& graph, const TokenBatch& batch,
              const std::vector<double>& reference = {}) const;

 private:
  TextModel(const FileLookup& files, std::string name);
  std::shared_ptr<const TextGraph> build(const GraphKey& key) const;
  Value pooled(GraphBuilder& graph, Value hidden, TextGraph& built) const;
  std::vector<int64_t> positions(const std::vector<int64_t>& ids) const;

  std::string name_;
  Config config_;
  Checkpoint checkpoint_;
  const Architecture& kind_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::string prefix_;
  int64_t labels_ = 0;
  int64_t type_count_ = 1;  // token types that inputs may use
  int64_t max_tokens_ = 0;
  Pooling pooling_ = Pooling::kMean;
  std::vector<std::string> output_names_;
  mutable std::mutex mutex_;
  mutable std::map<GraphKey, std::shared_ptr<const TextGraph>> graphs_;
};

}  // namespace whyformer
