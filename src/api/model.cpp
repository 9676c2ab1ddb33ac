#include "whyformer/model.h"

#include <fmt/format.h>

#include "base/files.h"
#include "formats/file_checks.h"
#include "formats/weights.h"
#include "models/built_in.h"
#include "models/picture_model.h"
#include "models/table_model.h"
#include "models/text_model.h"
#include "readers/pictures/picture_processor.h"
#include "whyformer/error.h"
#include "whyformer/files.h"
#include "whyformer/parts.h"

namespace whyformer {
namespace {

void append_maps(const std::vector<AttentionMap>& maps, const std::string& prefix,
                 std::vector<NamedFloats>& tensors) {
  for (size_t layer = 0; layer < maps.size(); ++layer) {
    const AttentionMap& map = maps[layer];
    const auto count = static_cast<size_t>(map.heads * map.queries * map.keys);
    tensors.push_back({prefix + std::to_string(layer),
                       {map.heads, map.queries, map.keys},
                       {map.values.get(), count}});
  }
}

bool names_picture(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& letter : ending)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" || ending == ".webp";
}

// Without a preprocessor_config.json, as ViT's processor does by itself, to the model's own size.
std::shared_ptr<const PictureProcessor> processor_of(const FileLookup& files,
                                                     const PictureModel& model) {
  if (model.channels() != 1 && model.channels() != 3) {
    throw UnsupportedModel(
        fmt::format("'{}' takes pictures of {} channels, and pictures have 1 (grey) or 3 "
                    "(colours): give arrays",
                    model.name(), model.channels()));
  }
  PictureSettings settings;
  if (files("preprocessor_config.json") || files("processor_config.json")) {
    settings = picture_settings(files);
  } else {
    settings.size = PictureSize{.width = model.width(), .height = model.height()};
    settings.normalisation = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
  }
  settings.channels = static_cast<int>(model.channels());
  return std::make_shared<PictureProcessor>(settings);
}

// A copy, since models read some of their files only when they need them.
FileLookup lookup_in(const std::map<std::string, std::string, std::less<>>& documents) {
  std::map<std::string, Bytes, std::less<>> files;
  for (const auto& [name, content] : documents) files.emplace(name, bytes_of(content));
  return [files = std::move(files)](std::string_view name) -> std::optional<Bytes> {
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
}

TokenizedText tokenized(const Tokenizer& tokenizer, const TextInput& input) {
  const auto pair = input.pair ? std::optional<std::string_view>(*input.pair) : std::nullopt;
  const Encoding encoding = tokenizer.encode(input.text, pair, 0);
  TokenizedText result{encoding.ids, encoding.tokens, {}, encoding.special, encoding.segment};
  for (const Encoding::Offset& offset : encoding.offsets) {
    result.offsets.emplace_back(offset.start, offset.end);
  }
  return result;
}

}  // namespace

Model Model::load(const std::filesystem::path& folder, const LoadOptions& options) {
  std::shared_ptr<const PictureModel> pictures = PictureModel::load_if_one(folder, options.output);
  if (pictures == nullptr) {
    if (auto tables = TableModel::load_if_one(folder, options.output))
      return Model(std::move(tables));
    return Model(TextModel::load(folder, options.output));
  }
  return {pictures, processor_of(files_of_model(folder), *pictures)};
}

Model Model::load(const ModelParts& parts) {
  const FileLookup files = lookup_in(parts.documents);
  const auto config = files("config.json");
  if (!config || parts.weights.empty()) {
    throw InvalidInput(fmt::format("{} comes without {}: hand it over with the model's other parts",
                                   in_quotes(parts.name), config ? "weights" : "config.json"));
  }
  const WeightSource weights = [&] { return stored_tensors(parts.weights); };
  if (!PictureModel::reads(Config(parse_json_file(*config, "config.json")))) {
    return Model(TextModel::load(files, weights, parts.name));
  }
  const auto model = PictureModel::load(files, weights, parts.name);
  return {model, processor_of(files, *model)};
}

Model Model::built_in() { return Model(TextModel::load(built_in_sentiment(), "sentiment")); }

Model Model::built_in_for_pictures() {
  const FileLookup files = built_in_pictures();
  const auto model = PictureModel::load(files, "pictures");
  return {model, processor_of(files, *model)};
}

bool means_picture(const std::string& argument) {
  // Sentences are longer than file names can be, or have lines.
  if (argument.empty() || argument.size() > 4096 || argument.find('\n') != argument.npos)
    return false;
  const std::filesystem::path path(argument);
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    return begins_like_picture(map_file(path).view) || names_picture(path);
  }
  return names_picture(path) && argument.find(' ') == argument.npos;
}

ModelName Model::name() const {
  if (reads_pictures()) return {picture_model_->name(), picture_model_->architecture()};
  if (reads_tables()) return {table_model_->name(), table_model_->architecture()};
  return {text_model_->name(), text_model_->architecture()};
}

const TextModel& Model::text_model() const {
  if (reads_pictures() && picture_model_->reads_texts()) return *picture_model_->text_tower();
  if (text_model_ == nullptr) {
    throw InvalidInput(fmt::format("'{}' reads {}", name().name,
                                   reads_pictures()
                                       ? "pictures, not texts: give it a JPEG, PNG or WebP file"
                                       : "rows of a table, not texts: give it --table FILE"));
  }
  return *text_model_;
}

const PictureModel& Model::picture_model() const {
  if (picture_model_ == nullptr) {
    throw InvalidInput(fmt::format("'{}' reads {}, not pictures", name().name,
                                   reads_tables() ? "rows of a table" : "texts"));
  }
  return *picture_model_;
}

const TableModel& Model::table_model() const {
  if (table_model_ == nullptr) {
    throw InvalidInput(fmt::format("'{}' reads {}, not rows of a table", name().name,
                                   reads_pictures() ? "pictures" : "texts"));
  }
  return *table_model_;
}

const PictureProcessor& Model::picture_processor() const {
  picture_model();
  return *picture_processor_;
}

TokenizedText Model::tokenize(const TextInput& input) const {
  return tokenized(text_model().tokenizer(), input);
}

Model Model::among(const std::vector<std::string>& texts) const {
  return {picture_model().among(texts), picture_processor_};
}

TextTokenizer TextTokenizer::load(const std::filesystem::path& folder) {
  return TextTokenizer(load_tokenizer(files_of_model(folder)));
}

TextTokenizer TextTokenizer::built_in() {
  return TextTokenizer(load_tokenizer(built_in_sentiment()));
}

TokenizedText TextTokenizer::tokenize(const TextInput& input) const {
  return tokenized(*tokenizer_, input);
}

std::string to_safetensors(const Trace& trace) {
  std::vector<float> logits;
  for (const double value : trace.output.values) logits.push_back(static_cast<float>(value));
  std::vector<NamedFloats> tensors;
  append_maps(trace.attention, "attention.", tensors);
  append_maps(trace.attention_gradient, "attention_gradient.", tensors);
  tensors.push_back({"logits", {static_cast<int64_t>(logits.size())}, logits});
  return write_safetensors(tensors);
}

void save(const std::filesystem::path& path, std::string_view bytes) { write_file(path, bytes); }

void save_all(const std::vector<NamedBytes>& files) {
  std::vector<FileContent> contents;
  for (const auto& [path, bytes] : files) contents.push_back({path, bytes});
  write_files(contents);
}

}  // namespace whyformer
