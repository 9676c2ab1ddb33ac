#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "models/architectures/clip.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

class ClipTextModel final : public TextModel {
 public:
  ClipTextModel(const FileLookup& files, std::string name,
                std::shared_ptr<const Checkpoint> checkpoint, const Config& config)
      : TextModel(files, std::move(name)), checkpoint_(std::move(checkpoint)), texts_(config) {
    architecture_ = config.architecture().empty() ? config.model_type() : config.architecture();
    max_tokens_ = texts_.most_tokens(*checkpoint_);
    const int64_t limit = tokenizer_->model_max_length();
    if (limit > 0) max_tokens_ = std::min(max_tokens_, limit);
    // Building a small graph now shows at once whether config and weights belong together.
    const auto built = graph({.tokens = 1, .head = Head::kEmbedding});
    name_dimensions(built->graph.shape(built->output)[1]);
    notes_ = checkpoint_->notes();
  }

  int64_t parameter_count() const override { return checkpoint_->parameter_count(); }
  int64_t tensor_count() const override { return checkpoint_->tensor_count(); }

  Encoding encode(std::string_view text, std::optional<std::string_view> pair) const override {
    if (pair)
      throw InvalidInput(fmt::format("'{}' reads one text at a time: leave out the second", name_));
    Encoding encoding = TextModel::encode(text, pair);
    keep_first(encoding, static_cast<size_t>(texts_.tokens_read(encoding.ids)));
    return encoding;
  }

 private:
  static void keep_first(Encoding& encoding, size_t count) {
    encoding.ids.resize(count);
    encoding.type_ids.resize(count);
    encoding.tokens.resize(count);
    encoding.offsets.resize(count);
    encoding.special.resize(count);
    encoding.segment.resize(count);
    encoding.word.resize(count);
  }

  std::shared_ptr<TextGraph> build(const GraphKey& key) const override {
    if (key.head == Head::kLogits) {
      throw InvalidInput(
          fmt::format("'{}' has no classifier of texts: ask for its embedding", name_));
    }
    auto built = std::make_shared<TextGraph>();
    built->key = key;
    GraphBuilder graph;
    built->inputs.ids = graph.input("input_ids", {key.batch, key.tokens}, DType::kInt64);
    if (key.masked) {
      built->inputs.mask = graph.input("attention_mask", {key.batch, 1, 1, key.tokens}, key.dtype,
                                       InputRole::kGiven);
    }
    const ClipTextOutputs encoded =
        texts_.encode(graph, *checkpoint_, built->inputs.ids, built->inputs.mask, key.dtype);
    built->word_embeddings = encoded.word_embeddings;
    built->embeddings = built->layers_input = encoded.embeddings;
    built->output = key.head == Head::kSimilarity ? add_similarity(graph, encoded.vector, *built)
                                                  : encoded.vector;
    finish(graph.finish(), *built);
    return built;
  }

  void feed_tokens(const TextGraph& graph, const TokenBatch& batch, Feeds& feeds) const override {
    const GraphKey& key = graph.key;
    feeds[graph.inputs.ids] = batch_tensor(batch.ids, key.tokens);
    if (graph.inputs.mask.valid()) {
      feeds[graph.inputs.mask] = token_numbers(batch, key.dtype, {key.batch, 1, 1, key.tokens}, 0,
                                               -std::numeric_limits<double>::infinity());
    }
  }

  std::shared_ptr<const Checkpoint> checkpoint_;
  ClipTexts texts_;
};

}  // namespace

std::shared_ptr<const TextModel> clip_text_tower(const FileLookup& files, std::string name,
                                                 std::shared_ptr<const Checkpoint> checkpoint,
                                                 const Config& config) {
  return std::make_shared<ClipTextModel>(files, std::move(name), std::move(checkpoint), config);
}

}  // namespace whyformer
