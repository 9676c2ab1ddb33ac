#include "readers/tokenizers/tokenizer_json.h"

#include "readers/tokenizers/tokenizer_document.h"

namespace whyformer::tokenization {
namespace {

std::unique_ptr<const TokenModel> read_unigram(const JsonFields& fields,
                                               TokenizerDocument& document) {
  if (!document.vocabulary_is_list) {
    throw FileError(fmt::format(
        "'{}': the vocabulary of a Unigram model should be tokens with scores", fields.file()));
  }
  UnigramOptions options{.byte_fallback = fields.flag_or("byte_fallback", false)};
  if (fields.find("unk_id") != nullptr) options.unk_id = fields.number("unk_id");
  Vocabulary vocabulary;
  vocabulary.reserve(document.tokens.size(), 0);
  for (size_t i = 0; i < document.tokens.size(); ++i) vocabulary.append(document.tokens[i]);
  return unigram_model(std::move(vocabulary), std::move(document.numbers), options, fields.file());
}

std::unique_ptr<const TokenModel> read_bpe(const JsonFields& fields,
                                           const TokenizerDocument& document) {
  // A dropout in the file is for training; running it would make every explanation a lottery.
  BpeOptions options{.unk_token = fields.optional_text("unk_token"),
                     .continuing_subword_prefix = fields.text_or("continuing_subword_prefix", ""),
                     .end_of_word_suffix = fields.text_or("end_of_word_suffix", ""),
                     .fuse_unk = fields.flag_or("fuse_unk", false),
                     .byte_fallback = fields.flag_or("byte_fallback", false),
                     .ignore_merges = fields.flag_or("ignore_merges", false)};
  return bpe_model(vocabulary_with_ids(document, fields.file()), document.merges,
                   std::move(options), fields.file());
}

// Old files do not name the type of their model.
std::string guess_type(const JsonFields& fields, const TokenizerDocument& document) {
  if (document.vocabulary_is_list) return "Unigram";
  if (document.merges.size() > 0) return "BPE";
  return fields.find("continuing_subword_prefix") != nullptr ? "WordPiece" : "WordLevel";
}

std::unique_ptr<const TokenModel> read_model(TokenizerDocument& document, const JsonFields& root) {
  const JsonFields fields(root.required("model"), root.file(), "the model");
  const std::string type = fields.text_or("type", guess_type(fields, document));
  if (document.tokens.size() == 0) {
    throw FileError(fmt::format("'{}': the model has no vocabulary", root.file()));
  }
  if (type == "WordPiece") {
    WordPieceOptions options{
        .unk_token = fields.text_or("unk_token", "[UNK]"),
        .continuing_subword_prefix = fields.text_or("continuing_subword_prefix", "##")};
    if (fields.find("max_input_chars_per_word") != nullptr) {
      options.max_input_chars_per_word = fields.number("max_input_chars_per_word");
    }
    return word_piece_model(vocabulary_with_ids(document, root.file()), std::move(options));
  }
  if (type == "WordLevel") {
    return word_level_model(vocabulary_with_ids(document, root.file()),
                            fields.text_or("unk_token", "<unk>"));
  }
  if (type == "BPE") return read_bpe(fields, document);
  if (type == "Unigram") return read_unigram(fields, document);
  throw UnsupportedModel(
      fmt::format("'{}': the tokenizer model '{}' is not supported", root.file(), type));
}

}  // namespace

std::unique_ptr<Tokenizer::Parts> parse_tokenizer_json(std::string_view text,
                                                       std::string_view file) {
  TokenizerDocument document = parse_tokenizer_document(text, file);
  const JsonFields root(document.tree, file, "the tokenizer");
  auto parts = std::make_unique<Tokenizer::Parts>();
  if (const Json* normalizer = root.find("normalizer"))
    parts->normalizer = read_normalizer(*normalizer, file);
  if (const Json* splitter = root.find("pre_tokenizer"))
    parts->pre_tokenizer = read_pre_tokenizer(*splitter, file);
  if (const Json* processor = root.find("post_processor"))
    parts->post_processor = read_post_processor(*processor, file);
  parts->model = read_model(document, root);
  if (root.find("added_tokens") != nullptr) {
    std::vector<AddedToken> tokens;
    for (const Json& token : root.list("added_tokens")) {
      tokens.push_back(read_added_token(JsonFields(token, file, "an added token")));
    }
    parts->added_tokens.add(tokens, *parts->model);
  }
  return parts;
}

}  // namespace whyformer::tokenization
