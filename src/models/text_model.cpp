#include "models/text_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/files.h"
#include "graph/restrict_rows.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr size_t kMostGraphs = 64;  // lengths vary in a file of texts; old graphs are dropped

Bytes required(const FileLookup& files, std::string_view file, const std::string& model) {
  auto found = files(file);
  if (!found) {
    throw FileError(fmt::format(
        "'{}' has no {}: give a HuggingFace model folder (config.json, weights, tokenizer)", model,
        file));
  }
  return *found;
}

Pooling pooling_from(const FileLookup& files) {
  // sentence-transformers writes how token vectors become one; without it the mean is usual.
  const auto file = files("1_Pooling/config.json");
  if (!file) return Pooling::kMean;
  const Config config(parse_json_file(*file, "1_Pooling/config.json"));
  const bool mean = config.flag_or("pooling_mode_mean_tokens", false);
  const bool first = config.flag_or("pooling_mode_cls_token", false);
  if (mean == first) {
    throw UnsupportedModel(
        "1_Pooling/config.json: only the mean over tokens or the first token is supported");
  }
  return mean ? Pooling::kMean : Pooling::kFirst;
}

// Whether the second text of a pair gets token type 1. transformers 5 decides by the tokenizer's class:
// BERT's and ELECTRA's give token types, all others (ALBERT's too) leave them at 0.
bool gives_token_types(const FileLookup& files, const Config& model) {
  const auto file = files("tokenizer_config.json");
  if (!file) return model.model_type() == "bert" || model.model_type() == "electra";
  const nlohmann::json json = parse_json_file(*file, "tokenizer_config.json");
  const auto names = json.find("model_input_names");
  if (names != json.end() && names->is_array()) {
    return std::find(names->begin(), names->end(), "token_type_ids") != names->end();
  }
  const std::string type = Config(json).text_or("tokenizer_class", "");
  if (type.starts_with("PreTrainedTokenizer") || type == "TokenizersBackend") return false;
  return model.model_type() == "bert" || model.model_type() == "electra";
}

Tensor batch_tensor(const std::vector<std::vector<int64_t>>& rows, int64_t tokens) {
  std::vector<int64_t> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return Tensor::of<int64_t>({static_cast<int64_t>(rows.size()), tokens}, flat);
}

// One number per token, as the graph's float type.
Tensor token_numbers(const TokenBatch& batch, const GraphKey& key, const Shape& shape,
                     double if_shown, double if_hidden) {
  std::vector<double> numbers;
  for (const auto& row : batch.hidden) {
    for (const bool hidden : row) numbers.push_back(hidden ? if_hidden : if_shown);
  }
  return Tensor::of<double>(shape, numbers).cast(key.dtype);
}

}  // namespace

std::shared_ptr<const TextModel> TextModel::load(const std::filesystem::path& folder) {
  const FileLookup files = files_in(folder);
  std::string name = std::filesystem::weakly_canonical(folder).filename().string();
  return load(files, std::move(name));
}

std::shared_ptr<const TextModel> TextModel::load(const FileLookup& files, std::string name) {
  return std::shared_ptr<const TextModel>(new TextModel(files, std::move(name)));
}

TextModel::TextModel(const FileLookup& files, std::string name)
    : name_(std::move(name)),
      config_(parse_json_file(required(files, "config.json", name_), "config.json")),
      checkpoint_((architecture_of(config_), read_checkpoint(files))),
      kind_(architecture_of(config_)),
      tokenizer_(load_tokenizer(files)) {
  prefix_ = checkpoint_.has_prefix(std::string(kind_.prefix) + "embeddings.") ? kind_.prefix : "";
  // A head that judges each token is not a text's classifier: such a model is explained as an encoder.
  const bool judges_tokens = config_.architecture().ends_with("ForTokenClassification");
  const bool promised = config_.architecture().ends_with("ForSequenceClassification");
  if (promised || (checkpoint_.has(kind_.classifier) && !judges_tokens)) {
    labels_ = checkpoint_.tensor(std::string(kind_.classifier), {-1, -1}, DType::kFloat32).dim(0);
    output_names_ = config_.labels(labels_);
  } else {
    pooling_ = pooling_from(files);
    for (int64_t i = 0; i < config_.size(kind_.width); ++i) {
      output_names_.push_back(fmt::format("dimension {}", i));
    }
  }
  const std::string base = prefix_ + "embeddings.";
  const auto rows = [&](const std::string& table) {
    return checkpoint_.tensor(base + table + ".weight", {-1, -1}, DType::kFloat32).dim(0);
  };
  if (kind_.has_token_types && gives_token_types(files, config_)) {
    type_count_ = rows("token_type_embeddings");
  }
  max_tokens_ = rows("position_embeddings") - kind_.first_position(config_);
  const int64_t limit = tokenizer_->model_max_length();
  if (limit > 0) max_tokens_ = std::min(max_tokens_, limit);
  // Building a small graph now shows at once whether config and weights belong together.
  graph({.tokens = 2, .head = has_classifier() ? Head::kLogits : Head::kEmbedding});
}

std::string TextModel::architecture() const {
  return config_.architecture().empty() ? config_.model_type() : config_.architecture();
}

std::optional<Problem> TextModel::problem() const {
  if (!has_classifier()) return std::nullopt;
  return config_.problem(labels_);
}

std::optional<int64_t> TextModel::pad_id() const {
  if (const auto id = tokenizer_->pad_id()) return id;
  const int64_t id = config_.id_or("pad_token_id", -1);
  return id < 0 ? std::nullopt : std::optional(id);
}

std::shared_ptr<const TextGraph> TextModel::graph(const GraphKey& key) const {
  {
    const std::lock_guard lock(mutex_);
    const auto known = graphs_.find(key);
    if (known != graphs_.end()) return known->second;
  }
  auto built = build(key);
  const std::lock_guard lock(mutex_);
  if (graphs_.size() >= kMostGraphs) graphs_.clear();
  return graphs_.try_emplace(key, std::move(built)).first->second;
}

Value TextModel::pooled(GraphBuilder& graph, Value hidden, TextGraph& built) const {
  const Shape shape = graph.shape(hidden);
  if (pooling_ == Pooling::kFirst) {
    return reshape(graph, slice(graph, hidden, 1, 0, 1, "pooling"), {shape[0], shape[2]},
                   "pooling");
  }
  if (!built.key.masked) return mean(graph, hidden, 1, "pooling");
  built.pooling = graph.input("pooling_weights", {shape[0], 1, shape[1]}, built.key.dtype,
                              InputRole::kGiven);
  return reshape(graph, matmul(graph, built.pooling, hidden, "pooling"), {shape[0], shape[2]},
                 "pooling");
}

std::shared_ptr<const TextGraph> TextModel::build(const GraphKey& key) const {
  auto built = std::make_shared<TextGraph>();
  built->key = key;
  GraphBuilder graph;
  const Shape tokens{key.batch, key.tokens};
  built->inputs.ids = graph.input("input_ids", tokens, DType::kInt64);
  built->inputs.types = graph.input("token_type_ids", tokens, DType::kInt64, InputRole::kGiven);
  built->inputs.positions = graph.input("position_ids", tokens, DType::kInt64, InputRole::kGiven);
  if (key.masked) {
    built->inputs.mask = graph.input("attention_mask", {key.batch, 1, 1, key.tokens}, key.dtype,
                                     InputRole::kGiven);
  }
  EncoderBuilder build(graph, checkpoint_, config_, prefix_, key.dtype);
  const EncoderOutputs encoded = kind_.encode(build, built->inputs);
  Value output;
  if (key.head == Head::kLogits) {
    output = kind_.classify(build, encoded.hidden, labels_);
  } else {
    output = pooled(graph, encoded.hidden, *built);
  }
  if (key.head == Head::kSimilarity) {
    const int64_t width = graph.shape(output)[1];
    built->reference = graph.input("reference", {key.batch, width, 1}, key.dtype, InputRole::kGiven);
    const Value unit = l2_normalise(graph, output, "similarity/normalise");
    const Value row = reshape(graph, unit, {key.batch, 1, width}, "similarity/row");
    output = reshape(graph, matmul(graph, row, built->reference, "similarity"), {key.batch, 1},
                     "similarity");
  }
  const Graph whole = graph.finish();
  std::vector<Value> full{encoded.word_embeddings, encoded.embeddings, encoded.layers_input};
  built->found = discover(whole, output);
  for (const AttentionSite& site : built->found.sites) full.push_back(site.attention);
  Restricted restricted = restrict_rows(whole, output, full);
  const auto renamed = [&](Value& value) {
    if (value.valid()) value = restricted.new_value[value.id];
  };
  for (Value* value : {&built->inputs.ids, &built->inputs.types, &built->inputs.positions,
                       &built->inputs.mask, &built->pooling, &built->reference,
                       &built->found.read_out.weights}) {
    renamed(*value);
  }
  for (AttentionSite& site : built->found.sites) renamed(site.attention);
  built->word_embeddings = restricted.new_value[encoded.word_embeddings.id];
  built->embeddings = restricted.new_value[encoded.embeddings.id];
  built->layers_input = restricted.new_value[encoded.layers_input.id];
  built->output = restricted.new_value[output.id];
  built->graph = std::move(restricted.graph);
  return built;
}

std::vector<int64_t> TextModel::positions(const std::vector<int64_t>& ids) const {
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

Feeds TextModel::feeds(const TextGraph& graph, const TokenBatch& batch,
                       const std::vector<double>& reference) const {
  const GraphKey& key = graph.key;
  std::vector<std::vector<int64_t>> position_rows, type_rows = batch.types;
  for (const auto& ids : batch.ids) position_rows.push_back(positions(ids));
  // Tokenizers say 1 for the second text also where the model has one type, or is given none.
  for (auto& row : type_rows) {
    for (int64_t& type : row) type = std::min(type, type_count_ - 1);
  }
  Feeds feeds;
  feeds[graph.inputs.ids] = batch_tensor(batch.ids, key.tokens);
  feeds[graph.inputs.types] = batch_tensor(type_rows, key.tokens);
  feeds[graph.inputs.positions] = batch_tensor(position_rows, key.tokens);
  if (graph.inputs.mask.valid()) {
    feeds[graph.inputs.mask] = token_numbers(batch, key, {key.batch, 1, 1, key.tokens}, 0,
                                             -std::numeric_limits<double>::infinity());
  }
  if (graph.pooling.valid()) {
    Tensor weights = token_numbers(batch, {.dtype = DType::kFloat64},
                                   {key.batch, 1, key.tokens}, 1, 0);
    for (int64_t sample = 0; sample < key.batch; ++sample) {
      double* row = weights.mutable_data<double>() + sample * key.tokens;
      double shown = 0;
      for (int64_t i = 0; i < key.tokens; ++i) shown += row[i];
      for (int64_t i = 0; i < key.tokens; ++i) row[i] /= std::max(shown, 1.0);
    }
    feeds[graph.pooling] = weights.cast(key.dtype);
  }
  if (graph.reference.valid()) {
    const Shape one{1, static_cast<int64_t>(reference.size()), 1};
    const Tensor column = Tensor::of<double>(one, std::span<const double>(reference));
    feeds[graph.reference] = column.cast(key.dtype)
                                 .expand({key.batch, one[1], 1})
                                 .contiguous();
  }
  return feeds;
}

}  // namespace whyformer
