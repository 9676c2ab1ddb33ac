#include "models/text_source.h"

#include <fmt/format.h>

#include "base/files.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr const char* kIds = "input_ids";
constexpr const char* kTypes = "token_type_ids";
constexpr const char* kHidden = "hidden";

Tensor integers(const std::vector<int64_t>& numbers) {
  return Tensor::of<int64_t>({static_cast<int64_t>(numbers.size())},
                             std::span<const int64_t>(numbers));
}

std::vector<int64_t> numbers_of(const Tensor& row) {
  return {row.data<int64_t>(), row.data<int64_t>() + row.size()};
}

TokenBatch batch_of(std::span<const Sample> samples) {
  TokenBatch batch;
  for (const Sample& sample : samples) {
    batch.ids.push_back(numbers_of(sample.at(kIds)));
    batch.types.push_back(numbers_of(sample.at(kTypes)));
    const auto hidden = sample.find(kHidden);
    if (hidden == sample.end()) continue;
    const std::vector<int64_t> marks = numbers_of(hidden->second);
    batch.hidden.emplace_back(marks.begin(), marks.end());
  }
  return batch;
}

}  // namespace

std::vector<Sample> samples_of(const TokenBatch& batch) {
  std::vector<Sample> samples;
  for (size_t i = 0; i < batch.ids.size(); ++i) {
    Sample sample{{kIds, integers(batch.ids[i])}, {kTypes, integers(batch.types[i])}};
    if (!batch.hidden.empty()) {
      sample[kHidden] = integers({batch.hidden[i].begin(), batch.hidden[i].end()});
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

ShapeKey text_key(int64_t tokens, ShapeKey key) {
  key.shapes[kIds] = {tokens};
  return key;
}

ShapeKey masked_text_key(int64_t tokens, ShapeKey key) {
  key.shapes[kHidden] = {tokens};
  return text_key(tokens, std::move(key));
}

bool tells_pooling(const FileLookup& files) { return files("1_Pooling/config.json").has_value(); }

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

bool gives_token_types(const FileLookup& files, const Config& model) {
  const auto file = files("tokenizer_config.json");
  if (!file) return model.model_type() == "bert" || model.model_type() == "electra";
  const nlohmann::json json = parse_json_file(*file, "tokenizer_config.json");
  const auto names = json.find("model_input_names");
  if (names != json.end() && names->is_array()) {
    return std::find(names->begin(), names->end(), "token_type_ids") != names->end();
  }
  const auto named = json.find("tokenizer_class");
  const std::string type =
      named != json.end() && named->is_string() ? named->get<std::string>() : "";
  if (type.starts_with("PreTrainedTokenizer") || type == "TokenizersBackend") return false;
  return model.model_type() == "bert" || model.model_type() == "electra";
}

Tensor batch_tensor(const std::vector<std::vector<int64_t>>& rows, int64_t tokens) {
  std::vector<int64_t> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return Tensor::of<int64_t>({static_cast<int64_t>(rows.size()), tokens}, flat);
}

Tensor token_numbers(const TokenBatch& batch, DType dtype, const Shape& shape, double if_shown,
                     double if_hidden) {
  std::vector<double> numbers;
  for (const auto& row : batch.hidden) {
    for (const bool hidden : row) numbers.push_back(hidden ? if_hidden : if_shown);
  }
  return Tensor::of<double>(shape, numbers).cast(dtype);
}

// Padding behind the last token of each text, and hidden.
TokenBatch TextSource::filled_up(const TokenBatch& batch) const {
  TokenBatch full = batch;
  full.hidden.resize(full.ids.size());
  for (size_t text = 0; text < full.ids.size(); ++text) {
    full.ids[text].resize(fixed_tokens_, pad_id_.value_or(0));
    full.types[text].resize(fixed_tokens_, 0);
    full.hidden[text].resize(fixed_tokens_, false);
    for (int64_t i = fixed_tokens_; i-- > 0 && full.ids[text][i] == pad_id_;)
      full.hidden[text][i] = true;
  }
  return full;
}

// Graphs that take token types take them of the same length as ids.
ShapeKey TextSource::served_by(ShapeKey key) const {
  key.shapes.erase(kTypes);
  if (fixed_tokens_ == 0) return key;
  const int64_t tokens = key.shape(kIds)[0];
  if (tokens > fixed_tokens_) {
    throw InvalidInput(
        fmt::format("the file takes exactly {} tokens, not {}", fixed_tokens_, tokens));
  }
  return masked_text_key(fixed_tokens_, std::move(key));
}

Value TextSource::pooled(GraphBuilder& graph, Value hidden, ModelGraph& built) const {
  const Shape shape = graph.shape(hidden);
  if (pooling_ == Pooling::kFirst) {
    return reshape(graph, slice(graph, hidden, 1, 0, 1, "pooling"), {shape[0], shape[2]},
                   "pooling");
  }
  if (!built.key.shapes.contains(kHidden)) return mean(graph, hidden, 1, "pooling");
  const Value weights =
      graph.input("pooling_weights", {shape[0], 1, shape[1]}, built.key.dtype, InputRole::kGiven);
  built.inputs["pooling_weights"] = weights;
  return reshape(graph, matmul(graph, weights, hidden, "pooling"), {shape[0], shape[2]}, "pooling");
}

Value TextSource::embedding_head(GraphBuilder& graph, Value hidden, ModelGraph& built) const {
  const Value vector = pooled(graph, hidden, built);
  return built.key.head == Head::kSimilarity ? add_similarity(graph, vector, built) : vector;
}

void TextSource::feed(const ModelGraph& graph, std::span<const Sample> samples,
                      Feeds& feeds) const {
  const TokenBatch given = batch_of(samples);
  const TokenBatch batch = fixed_tokens_ > 0 ? filled_up(given) : given;
  feed_tokens(graph, batch, feeds);
  const Value pooling = graph.input("pooling_weights");
  if (!pooling.valid()) return;
  const ValueType& type = graph.graph.type(pooling);
  Tensor weights = token_numbers(batch, DType::kFloat64, type.shape, 1, 0);
  const int64_t tokens = type.shape[2];
  for (int64_t sample = 0; sample < type.shape[0]; ++sample) {
    double* row = weights.mutable_data<double>() + sample * tokens;
    double shown = 0;
    for (int64_t i = 0; i < tokens; ++i) shown += row[i];
    for (int64_t i = 0; i < tokens; ++i) row[i] /= std::max(shown, 1.0);
  }
  feeds[pooling] = weights.cast(type.dtype);
}

}  // namespace whyformer
