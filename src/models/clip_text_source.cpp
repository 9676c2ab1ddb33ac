#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "models/architectures/clip.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

class ClipTextSource final : public TextSource {
 public:
  ClipTextSource(std::string name, std::shared_ptr<const Checkpoint> checkpoint,
                 const Config& config, const TokenizerFacts& tokenizer)
      : TextSource(std::move(name), tokenizer), checkpoint_(std::move(checkpoint)), texts_(config) {
    facts_.architecture =
        config.architecture().empty() ? config.model_type() : config.architecture();
    max_tokens_ = texts_.most_tokens(*checkpoint_);
    const int64_t limit = tokenizer.longest_input;
    if (limit > 0) max_tokens_ = std::min(max_tokens_, limit);
    // Building a small graph now shows at once whether config and weights belong together.
    const auto built = graph(text_key(1, {.head = Head::kEmbedding}));
    name_dimensions(built->graph.shape(built->output)[1]);
    facts_.notes = checkpoint_->notes();
  }

  int64_t parameter_count() const override { return checkpoint_->parameter_count(); }
  int64_t tensor_count() const override { return checkpoint_->tensor_count(); }

  bool reads_pairs() const override { return false; }
  int64_t tokens_read(const std::vector<int64_t>& ids) const override {
    return texts_.tokens_read(ids);
  }

 private:
  std::shared_ptr<const ModelGraph> build(const ShapeKey& key) const override {
    if (key.head == Head::kLogits) {
      throw InvalidInput(
          fmt::format("'{}' has no classifier of texts: ask for its embedding", name()));
    }
    auto built = std::make_shared<ModelGraph>();
    built->key = key;
    GraphBuilder graph;
    const int64_t tokens = key.shape("input_ids")[0];
    const Value ids = graph.input("input_ids", {key.batch, tokens}, DType::kInt64);
    Value mask;
    if (key.shapes.contains("hidden")) {
      mask = graph.input("attention_mask", {key.batch, 1, 1, tokens}, key.dtype, InputRole::kGiven);
    }
    built->inputs = {{"input_ids", ids}, {"attention_mask", mask}};
    const ClipTextOutputs encoded = texts_.encode(graph, *checkpoint_, ids, mask, key.dtype);
    built->entries = {{encoded.word_embeddings, "input_ids"}};
    built->embeddings = built->layers_input = encoded.embeddings;
    built->output = key.head == Head::kSimilarity ? add_similarity(graph, encoded.vector, *built)
                                                  : encoded.vector;
    finish_graph(graph.finish(), *built, 1);
    return built;
  }

  void feed_tokens(const ModelGraph& graph, const TokenBatch& batch, Feeds& feeds) const override {
    feeds[graph.input("input_ids")] =
        batch_tensor(batch.ids, static_cast<int64_t>(batch.ids[0].size()));
    const Value mask = graph.input("attention_mask");
    if (!mask.valid()) return;
    const ValueType& type = graph.graph.type(mask);
    feeds[mask] =
        token_numbers(batch, type.dtype, type.shape, 0, -std::numeric_limits<double>::infinity());
  }

  std::shared_ptr<const Checkpoint> checkpoint_;
  ClipTexts texts_;
};

}  // namespace

std::shared_ptr<const TextSource> clip_text_source(std::string name,
                                                   std::shared_ptr<const Checkpoint> checkpoint,
                                                   const Config& config,
                                                   const TokenizerFacts& tokenizer) {
  return std::make_shared<ClipTextSource>(std::move(name), std::move(checkpoint), config,
                                          tokenizer);
}

}  // namespace whyformer
