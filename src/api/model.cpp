#include "whyformer/model.h"

#include <fmt/format.h>

#include "base/files.h"
#include "formats/file_checks.h"
#include "formats/weights.h"
#include "models/built_in.h"
#include "models/model_files.h"
#include "models/model_hash.h"
#include "models/table_files.h"
#include "readers/array_reader.h"
#include "readers/context_choice.h"
#include "readers/load_readers.h"
#include "readers/load_table.h"
#include "readers/picture_reader.h"
#include "readers/row_reader.h"
#include "whyformer/error.h"
#include "whyformer/files.h"

namespace whyformer {
namespace {

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

Model::Model(ModelName name, Readers readers, HashOfModel hash, std::exception_ptr refusal)
    : name_(std::move(name)),
      readers_(std::move(readers)),
      hash_(std::move(hash)),
      refusal_(std::move(refusal)) {}

namespace {

ModelName name_of(const LoadedReaders& loaded) {
  const SourceFacts& facts = loaded.readers[0]->facts();
  return {facts.name, facts.architecture};
}

struct HashedReaders {
  LoadedReaders loaded;
  HashOfModel hash;
};

// `weights`: the file of a bare checkpoint.
HashedReaders readers_of_files(FileLookup files, const std::string& name,
                               const std::string& weights = "", const LoadOptions& options = {}) {
  const NotedFiles noted(std::move(files));
  const FileLookup lookup = noted.lookup();
  LoadedReaders loaded;
  if (lookup(kTableSpecFile)) {
    loaded.readers.push_back(table_reader(lookup, weights, name, options));
  } else {
    loaded = readers_of_folder(lookup, weights_in(lookup), name);
  }
  HashOfModel hash = noted.hash();
  if (!options.context.empty() || !options.context_mode.empty()) {
    const std::string rows =
        options.context.empty() ? "" : std::string(map_file(options.context).text());
    hash = hash_with(std::move(hash), {"context", rows, options.context_mode});
  }
  return {std::move(loaded), std::move(hash)};
}

HashedReaders readers_of_path(const std::filesystem::path& path, const LoadOptions& options) {
  const std::string name = name_of_model(path);
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  if (!options.table_spec.empty() || (folder && is_table_folder(path))) {
    refuse_output(options.output, name);
    TableFiles table = files_of_table(path, options.table_spec);
    return readers_of_files(std::move(table.files), name, table.weights, options);
  }
  const std::filesystem::path onnx = folder ? onnx_file_in(path) : path;
  const bool weights_alone =
      folder && onnx.empty() && !std::filesystem::exists(path / "config.json", error);
  const std::filesystem::path weights = weights_alone ? path / "model.safetensors" : path;
  if (const std::optional<std::string> package = table_package_in(weights)) {
    throw UnsupportedModel(
        fmt::format("{} holds the weights of {}, a model of tables, which do not tell what its "
                    "columns are: describe them in a table.json",
                    in_quotes(weights.filename().string()), *package),
        Remedy::kTableSpec);
  }
  if (options.arrays || std::filesystem::is_regular_file(onnx, error)) {
    const OnnxDocument document = open_onnx(path);
    return {readers_of_onnx(document, name, options), hash_of(document, options.output)};
  }
  FileLookup files = files_in(path);
  refuse_output(options.output, name);
  refuse_context(options, name);
  return readers_of_files(std::move(files), name);
}

}  // namespace

Model Model::load(const std::filesystem::path& path, const LoadOptions& options) {
  auto [loaded, hash] = readers_of_path(path, options);
  return {name_of(loaded), std::move(loaded.readers), std::move(hash), std::move(loaded.refusal)};
}

Model Model::load(const ModelParts& parts) {
  const FileLookup files = lookup_in(parts.documents);
  const auto config = files("config.json");
  if (!config || parts.weights.empty()) {
    throw InvalidInput(fmt::format("{} comes without {}: hand it over with the model's other parts",
                                   in_quotes(parts.name), config ? "weights" : "config.json"));
  }
  LoadedReaders loaded =
      readers_of_folder(files, [&] { return stored_tensors(parts.weights); }, parts.name);
  return {name_of(loaded), std::move(loaded.readers), hash_of(parts), std::move(loaded.refusal)};
}

Model Model::built_in() {
  auto [loaded, hash] = readers_of_files(built_in_sentiment(), "sentiment");
  return {name_of(loaded), std::move(loaded.readers), std::move(hash)};
}

Model Model::built_in_for_pictures() {
  auto [loaded, hash] = readers_of_files(built_in_pictures(), "pictures");
  return {name_of(loaded), std::move(loaded.readers), std::move(hash)};
}

Model Model::built_in_for_tables() {
  auto [loaded, hash] = readers_of_files(built_in_income(), "income");
  return {name_of(loaded), std::move(loaded.readers), std::move(hash)};
}

ModelName Model::name() const { return name_; }

template <class OneReader>
const OneReader* Model::find() const {
  for (const auto& reader : readers_) {
    if (const auto* found = dynamic_cast<const OneReader*>(reader.get())) return found;
  }
  return nullptr;
}

bool Model::reads_texts() const { return find<TextReader>() != nullptr; }
bool Model::reads_pictures() const { return find<PictureReader>() != nullptr; }
bool Model::reads_tables() const { return find<RowReader>() != nullptr; }
bool Model::reads_words() const {
  const auto* rows = find<RowReader>();
  return rows != nullptr && rows->layout().reads_words();
}
bool Model::rows_attend() const {
  const auto* rows = find<RowReader>();
  return rows != nullptr && static_cast<const RowSource&>(rows->source()).rows_attend();
}

namespace {

const RowReader* row_reader(const Model& model) {
  if (!model.reads_tables()) return nullptr;
  return static_cast<const RowReader*>(&model.reader_of(RowInput()));
}

}  // namespace

const NamedTable& rows_with(const Model& model) {
  static const NamedTable kNone;
  const RowReader* rows = row_reader(model);
  return rows == nullptr ? kNone : rows->rows();
}

std::vector<std::string> column_names(const Model& model) {
  std::vector<std::string> names;
  const RowReader* rows = row_reader(model);
  if (rows == nullptr || rows->layout().spec() == nullptr) return names;
  for (const ColumnSpec& column : rows->layout().spec()->columns) names.push_back(column.name);
  return names;
}

std::vector<std::string> answer_names(const Model& model) {
  const RowReader* rows = row_reader(model);
  if (rows == nullptr || rows->layout().spec() == nullptr) return {};
  return rows->source().output_names(rows->layout().count(RowInput()));
}

bool has_background(const Model& model) {
  const RowReader* rows = row_reader(model);
  return rows != nullptr && rows->layout().has_background();
}

int64_t block_rows(const Model& model) {
  const RowReader* rows = row_reader(model);
  return rows == nullptr ? 0 : rows->answer_block();
}

const Reader& Model::reader_of(const InputValue& value) const {
  for (const auto& reader : readers_) {
    if (reader->takes(value)) return *reader;
  }
  if (refusal_) std::rethrow_exception(refusal_);
  for (const auto& reader : readers_) reader->tell_why_not(value);
  throw InvalidInput(fmt::format("'{}' reads {}, not {}", name_.name, readers_[0]->what(),
                                 kInputNames[value.index()]),
                     readers_[0]->remedy());
}

ModelInfo Model::inspect() const { return readers_[0]->info(); }

ModelInfo Model::inspect(const ArrayViews& arrays) const {
  return static_cast<const ArrayReader&>(reader_of(arrays)).info(arrays);
}

TokenizedText Model::tokenize(const TextInput& input) const {
  const auto& texts = static_cast<const TextReader&>(reader_of(input));
  return tokenized(*texts.reading().tokenizer, input);
}

Model Model::among(const std::vector<std::string>& texts) const {
  const auto& pictures = static_cast<const PictureReader&>(reader_of(PictureInput()));
  return {name_, {pictures.among(texts)}, hash_with(hash_, texts)};
}

std::vector<std::string> Model::outputs() const {
  return static_cast<const ArrayReader&>(reader_of(ArrayViews())).outputs();
}

std::map<std::string, OutputArray, std::less<>> Model::run(const ArrayViews& arrays) const {
  return static_cast<const ArrayReader&>(reader_of(arrays)).run(arrays);
}

std::vector<std::string> default_methods(const Model& model) {
  return model.readers_[0]->default_methods(nullptr, {});
}

std::vector<std::string> default_methods(const Model& model, const InputValue& input,
                                         const TargetChoice& target) {
  return model.reader_of(input).default_methods(&input, {.target = target});
}

std::vector<std::string> default_methods_by_rows() {
  return {"leave-one-out", "raw-attention", "gae"};
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

void save(const std::filesystem::path& path, std::string_view bytes) { write_file(path, bytes); }

void save_all(const std::vector<NamedBytes>& files) {
  std::vector<FileContent> contents;
  for (const auto& [path, bytes] : files) contents.push_back({path, bytes});
  write_files(contents);
}

}  // namespace whyformer
