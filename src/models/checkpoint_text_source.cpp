#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "models/text_source.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

Bytes required(const FileLookup& files, std::string_view file, const std::string& model) {
  auto found = files(file);
  if (!found) {
    throw FileError(fmt::format(
        "'{}' has no {}: give a HuggingFace model folder (config.json, weights, tokenizer)", model,
        file));
  }
  return *found;
}

// A HuggingFace folder: config.json says which architecture, the weights fill it.
class CheckpointTextSource final : public TextSource {
 public:
  CheckpointTextSource(const FileLookup& files, std::string name, Config config,
                       StoredTensors weights, const TokenizerFacts& tokenizer)
      : TextSource(std::move(name), tokenizer),
        config_(std::move(config)),
        checkpoint_(std::move(weights)),
        kind_(architecture_of(config_)) {
    facts_.architecture =
        config_.architecture().empty() ? config_.model_type() : config_.architecture();
    if (!pad_id_ && config_.id_or("pad_token_id", -1) >= 0) {
      pad_id_ = config_.id_or("pad_token_id", -1);
    }
    prefix_ = checkpoint_.has_prefix(std::string(kind_.prefix) + "embeddings.") ? kind_.prefix : "";
    read_head(files);
    read_limits(files, tokenizer);
    // Building a small graph now shows at once whether config and weights belong together.
    graph(text_key(2, {.head = own_head()}));
    facts_.notes = checkpoint_.notes();
  }

  int64_t parameter_count() const override { return checkpoint_.parameter_count(); }
  int64_t tensor_count() const override { return checkpoint_.tensor_count(); }

 private:
  void read_head(const FileLookup& files) {
    const bool promised = config_.architecture().ends_with("ForSequenceClassification");
    if (promised || (checkpoint_.has(kind_.classifier) && !config_.names_other_head())) {
      labels_ = checkpoint_.tensor(std::string(kind_.classifier), {-1, -1}, DType::kFloat32).dim(0);
      facts_.output_names = config_.labels(labels_);
      facts_.problem = config_.problem(labels_);
    } else {
      if (config_.names_head() || (config_.architecture().empty() && has_weights_of_other_head())) {
        facts_.head_left_out = facts_.architecture;
        facts_.work_left_out =
            config_.names_other_head() ? config_.work_of_other_head() : "does not classify texts";
      }
      pooling_ = pooling_from(files);
      name_dimensions(config_.size(kind_.width));
    }
  }

  // For folders that do not name their architecture: what transformers calls the weights of heads.
  bool has_weights_of_other_head() const {
    for (const char* name :
         {"qa_outputs.weight", "cls.predictions.bias", "predictions.bias", "lm_head.bias",
          "vocab_projector.weight", "generator_predictions.dense.weight",
          "discriminator_predictions.dense.weight"}) {
      if (checkpoint_.has(name)) return true;
    }
    return false;
  }

  void read_limits(const FileLookup& files, const TokenizerFacts& tokenizer) {
    const std::string base = prefix_ + "embeddings.";
    const auto rows = [&](const std::string& table) {
      return checkpoint_.tensor(base + table + ".weight", {-1, -1}, DType::kFloat32).dim(0);
    };
    check_vocabulary(config_, rows("word_embeddings"));
    if (kind_.has_token_types && gives_token_types(files, config_)) {
      type_count_ = rows("token_type_embeddings");
      has_one_token_type_ = type_count_ == 1;
    }
    max_tokens_ = rows("position_embeddings") - kind_.first_position(config_);
    const int64_t limit = tokenizer.longest_input;
    if (limit > 0) max_tokens_ = std::min(max_tokens_, limit);
  }

  std::shared_ptr<const ModelGraph> build(const ShapeKey& key) const override {
    auto built = std::make_shared<ModelGraph>();
    built->key = key;
    GraphBuilder graph;
    const int64_t length = key.shape("input_ids")[0];
    const Shape tokens{key.batch, length};
    EncoderInputs inputs;
    inputs.ids = graph.input("input_ids", tokens, DType::kInt64);
    inputs.types = graph.input("token_type_ids", tokens, DType::kInt64, InputRole::kGiven);
    inputs.positions = graph.input("position_ids", tokens, DType::kInt64, InputRole::kGiven);
    built->inputs = {{"input_ids", inputs.ids},
                     {"token_type_ids", inputs.types},
                     {"position_ids", inputs.positions}};
    if (key.shapes.contains("hidden")) {
      inputs.mask =
          graph.input("attention_mask", {key.batch, 1, 1, length}, key.dtype, InputRole::kGiven);
      built->inputs["attention_mask"] = inputs.mask;
    }
    EncoderBuilder build(graph, checkpoint_, config_, prefix_, key.dtype);
    const EncoderOutputs encoded = kind_.encode(build, inputs);
    built->entries = {{encoded.word_embeddings, "input_ids"}};
    built->embeddings = encoded.embeddings;
    built->layers_input = encoded.layers_input;
    built->output = key.head == Head::kLogits ? kind_.classify(build, encoded.hidden, labels_)
                                              : embedding_head(graph, encoded.hidden, *built);
    finish_graph(graph.finish(), *built, 1);
    return built;
  }

  std::vector<int64_t> positions(const std::vector<int64_t>& ids) const {
    const int64_t first = kind_.first_position(config_);
    std::vector<int64_t> result;
    int64_t next = first;
    for (const int64_t id : ids) {
      // Models that count from padding_idx + 1 give padding the position padding_idx.
      const bool padding = first > 0 && id == first - 1;
      result.push_back(padding ? first - 1 : next++);
    }
    return result;
  }

  void feed_tokens(const ModelGraph& graph, const TokenBatch& batch, Feeds& feeds) const override {
    std::vector<std::vector<int64_t>> position_rows, type_rows = batch.types;
    for (const auto& ids : batch.ids) position_rows.push_back(positions(ids));
    // Tokenizers say 1 for the second text also where the model has one type, or is given none.
    for (auto& row : type_rows) {
      for (int64_t& type : row) {
        if (type_count_ == 0 || (type_count_ == 1 && type == 1))
          type = 0;
        else if (type < 0 || type >= type_count_) {
          throw InvalidInput(
              fmt::format("the tokenizer gives the token type {}, but the model's table has {} "
                          "rows: do tokenizer and model belong together?",
                          type, type_count_));
        }
      }
    }
    const auto tokens = static_cast<int64_t>(batch.ids[0].size());
    feeds[graph.input("input_ids")] = batch_tensor(batch.ids, tokens);
    feeds[graph.input("token_type_ids")] = batch_tensor(type_rows, tokens);
    feeds[graph.input("position_ids")] = batch_tensor(position_rows, tokens);
    if (const Value mask = graph.input("attention_mask"); mask.valid()) {
      const ValueType& type = graph.graph.type(mask);
      feeds[mask] =
          token_numbers(batch, type.dtype, type.shape, 0, -std::numeric_limits<double>::infinity());
    }
  }

  Config config_;
  Checkpoint checkpoint_;
  const Architecture& kind_;
  std::string prefix_;
  int64_t labels_ = 0;
  int64_t type_count_ = 0;  // rows of the table; 0 where all tokens are of type 0
};

}  // namespace

std::shared_ptr<const TextSource> checkpoint_text_source(const FileLookup& files,
                                                         const WeightSource& weights,
                                                         std::string name,
                                                         const AskTokenizer& tokenizer) {
  Config config(parse_json_file(required(files, "config.json", name), "config.json"));
  architecture_of(config);  // before gigabytes of weights are looked at
  StoredTensors tensors = weights();
  return std::make_shared<CheckpointTextSource>(files, std::move(name), std::move(config),
                                                std::move(tensors), tokenizer());
}

}  // namespace whyformer
