#include "models/text_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/files.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr size_t kMostGraphs = 64;  // lengths vary in a file of texts; old graphs are dropped

std::string name_of(const std::filesystem::path& path) {
  return std::filesystem::weakly_canonical(path).filename().string();
}

// The one file of a folder that has one, whatever its name; empty for none. Throws FileError that
// names them for several.
std::filesystem::path only_onnx_file(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const std::string inside : {"", "onnx/"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder / inside, error)) {
      if (entry.path().extension() == ".onnx")
        names.push_back(inside + entry.path().filename().string());
    }
  }
  if (names.empty()) return {};
  if (names.size() == 1) return folder / names[0];
  std::sort(names.begin(), names.end());
  if (names.size() > 5) names.resize(5);
  throw FileError(fmt::format("'{}' holds several ONNX files ({}…): give one of them",
                              folder.string(), fmt::join(names, ", ")));
}

// A link that cannot be followed is there: reading it tells what is wrong with it.
bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) || error;
}

}  // namespace

std::filesystem::path onnx_file_in(const std::filesystem::path& folder) {
  if (folder.empty()) return {};  // not the current folder
  for (const char* weights : {"model.safetensors", "model.safetensors.index.json",
                              "pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    if (is_there(folder / weights)) return {};
  }
  for (const char* name :
       {"model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"}) {
    if (is_there(folder / name)) return folder / name;
  }
  return only_onnx_file(folder);
}

std::filesystem::path onnx_file_of(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return path;
  return onnx_file_in(path);
}

FileLookup files_of_model(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return files_in(path);
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const FileLookup beside = files_in(folder);
  const std::filesystem::path absolute = std::filesystem::weakly_canonical(folder);
  if (absolute.filename() != "onnx") return beside;
  const FileLookup above = files_in(absolute.parent_path());
  return [beside, above](std::string_view name) -> std::optional<Bytes> {
    if (auto found = beside(name)) return found;
    return above(name);
  };
}

bool tells_pooling(const FileLookup& files) { return files("1_Pooling/config.json").has_value(); }

void refuse_output(const std::string& output, const std::string& model) {
  if (output.empty()) return;
  throw InvalidInput(
      fmt::format("'{}' is a folder of weights, whose outputs have no names: an output ('{}') is "
                  "chosen of an ONNX file",
                  model, output));
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

std::shared_ptr<const TextModel> TextModel::load(const std::filesystem::path& path,
                                                 const std::string& output) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error) && path.extension() == ".onnx") {
    return load_onnx_text_model(path, files_of_model(path), name_of(path), output);
  }
  const FileLookup files = files_in(path);
  const std::filesystem::path onnx = onnx_file_in(path);
  if (!onnx.empty()) return load_onnx_text_model(onnx, files_of_model(onnx), name_of(path), output);
  refuse_output(output, name_of(path));
  return load(files, name_of(path));
}

std::shared_ptr<const TextModel> TextModel::load(const FileLookup& files, std::string name) {
  return load(files, weights_in(files), std::move(name));
}

std::shared_ptr<const TextModel> TextModel::load(const FileLookup& files,
                                                 const WeightSource& weights, std::string name) {
  return load_checkpoint_model(files, weights, std::move(name));
}

TextModel::TextModel(const FileLookup& files, std::string name)
    : name_(std::move(name)), tokenizer_(load_tokenizer(files)), pad_id_(tokenizer_->pad_id()) {}

Encoding TextModel::encode(std::string_view text, std::optional<std::string_view> pair) const {
  Encoding encoding = tokenizer_->encode(text, pair, max_tokens_);
  const auto tokens = static_cast<int64_t>(encoding.ids.size());
  if (tokens >= fixed_tokens_) return encoding;
  if (!pad_id_) {
    throw InvalidInput(
        fmt::format("the file takes exactly {} tokens, the text has {}, and the tokenizer has no "
                    "padding to fill "
                    "it up with: export the model for any number of tokens",
                    fixed_tokens_, tokens));
  }
  if (tokens > 0 && encoding.ids.back() == *pad_id_) {
    throw InvalidInput(fmt::format(
        "the file takes exactly {} tokens, and its padding is the token that texts end with "
        "('{}'), so "
        "that one could not be told from the other: export the model for any number of tokens",
        fixed_tokens_, tokenizer_->token(*pad_id_)));
  }
  encoding.ids.resize(fixed_tokens_, *pad_id_);
  encoding.type_ids.resize(fixed_tokens_, 0);
  encoding.tokens.resize(fixed_tokens_, tokenizer_->token(*pad_id_));
  encoding.offsets.resize(fixed_tokens_);
  encoding.special.resize(fixed_tokens_, true);
  encoding.segment.resize(fixed_tokens_, encoding.segment.empty() ? 0 : encoding.segment.back());
  encoding.word.resize(fixed_tokens_, -1);
  return encoding;
}

// Padding behind the last token of each text, and hidden.
TokenBatch TextModel::filled_up(const TokenBatch& batch) const {
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

void TextModel::name_dimensions(int64_t width) {
  for (int64_t i = 0; i < width; ++i) output_names_.push_back(fmt::format("dimension {}", i));
}

std::shared_ptr<const TextGraph> TextModel::graph(const GraphKey& asked) const {
  GraphKey key = asked;
  if (fixed_tokens_ > 0) {
    if (key.tokens > fixed_tokens_) {
      throw InvalidInput(
          fmt::format("the file takes exactly {} tokens, not {}", fixed_tokens_, key.tokens));
    }
    key.tokens = fixed_tokens_;
    key.masked = true;
  }
  {
    const std::lock_guard lock(mutex_);
    const auto known = graphs_.find(key);
    if (known != graphs_.end()) return known->second;
  }
  std::shared_ptr<const TextGraph> built = build(key);
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
  built.pooling =
      graph.input("pooling_weights", {shape[0], 1, shape[1]}, built.key.dtype, InputRole::kGiven);
  return reshape(graph, matmul(graph, built.pooling, hidden, "pooling"), {shape[0], shape[2]},
                 "pooling");
}

Value TextModel::embedding_head(GraphBuilder& graph, Value hidden, TextGraph& built) const {
  const Value vector = pooled(graph, hidden, built);
  return built.key.head == Head::kSimilarity ? add_similarity(graph, vector, built) : vector;
}

void TextModel::finish(const Graph& whole, TextGraph& built) {
  // Texts tell of a batch by their first axis alone.
  finish_graph(whole, built, 1, built.key.all_rows ? KeptRows::kAll : KeptRows::kRead,
               {&built.inputs.ids, &built.inputs.types, &built.inputs.positions, &built.inputs.mask,
                &built.pooling},
               {&built.word_embeddings});
}

Feeds TextModel::feeds(const TextGraph& graph, const TokenBatch& given,
                       const std::vector<double>& reference) const {
  const GraphKey& key = graph.key;
  const TokenBatch batch = fixed_tokens_ > 0 ? filled_up(given) : given;
  Feeds feeds;
  feed_tokens(graph, batch, feeds);
  if (graph.pooling.valid()) {
    Tensor weights = token_numbers(batch, DType::kFloat64, {key.batch, 1, key.tokens}, 1, 0);
    for (int64_t sample = 0; sample < key.batch; ++sample) {
      double* row = weights.mutable_data<double>() + sample * key.tokens;
      double shown = 0;
      for (int64_t i = 0; i < key.tokens; ++i) shown += row[i];
      for (int64_t i = 0; i < key.tokens; ++i) row[i] /= std::max(shown, 1.0);
    }
    feeds[graph.pooling] = weights.cast(key.dtype);
  }
  feed_reference(graph, reference, feeds);
  return feeds;
}

}  // namespace whyformer
