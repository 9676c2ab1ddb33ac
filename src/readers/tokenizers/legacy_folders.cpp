#include "readers/tokenizers/legacy_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "readers/tokenizers/sentencepiece_model.h"
#include "readers/tokenizers/tokenizer_document.h"
#include "whyformer/error.h"

namespace whyformer::tokenization {
namespace {

void require_model_type(const TokenizerSettings& settings,
                        std::initializer_list<std::string_view> known, std::string_view file) {
  if (settings.model_type.empty()) return;
  if (std::find(known.begin(), known.end(), settings.model_type) != known.end()) return;
  throw UnsupportedModel(
      fmt::format("how a model of type '{}' uses '{}' is not known; save its tokenizer as "
                  "tokenizer.json and put it into the folder",
                  settings.model_type, file));
}

// Calls add(line) for each line, without its line feed and carriage return.
template <typename Add>
void for_each_line(std::string_view text, Add add) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    add(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view without_trailing_spaces(std::string_view line) {
  size_t end = 0;
  for (size_t position = 0; position < line.size();) {
    if (!is_whitespace(next_character(line, position))) end = position;
  }
  return line.substr(0, end);
}

int64_t required_id(const Tokenizer::Parts& parts, const AddedToken& token, std::string_view file) {
  const auto id = parts.find(token.content);
  if (!id)
    throw FileError(
        fmt::format("'{}': the special token '{}' is not in the vocabulary", file, token.content));
  return *id;
}

// First the tokens the files list, then the special tokens and the model's own that they do not
// list. Of a token given twice the last counts, so the model's own take the place of special
// tokens, as in transformers.
void add_tokens(Tokenizer::Parts& parts, const TokenizerSettings& settings,
                const std::vector<AddedToken>& own) {
  std::vector<AddedToken> tokens = settings.added;
  const auto add_unless_listed = [&](const AddedToken& token) {
    const auto same = [&](const AddedToken& other) { return other.content == token.content; };
    if (std::none_of(settings.added.begin(), settings.added.end(), same)) tokens.push_back(token);
  };
  for (const std::string_view role : kSpecialRoles) {
    const auto found = settings.special.find(role);
    if (found != settings.special.end()) add_unless_listed(found->second);
  }
  for (const AddedToken& token : own) add_unless_listed(token);
  parts.added_tokens.add(tokens, *parts.model);
}

std::unique_ptr<Tokenizer::Parts> read_bert(const Bytes& bytes, TokenizerSettings& settings) {
  constexpr std::string_view kFile = "vocab.txt";
  require_model_type(settings,
                     {"bert", "distilbert", "electra", "mobilebert", "squeezebert", "convbert",
                      "layoutlm", "megatron-bert", "nezha", "visual_bert", "ernie"},
                     kFile);
  if (!is_well_formed_utf8(bytes.text()))
    throw FileError(fmt::format("'{}' is not UTF-8; download it again", kFile));
  Vocabulary vocabulary;
  int64_t id = 0;
  for_each_line(bytes.text(), [&](std::string_view line) {
    vocabulary.set(without_trailing_spaces(line), id++);
  });

  auto parts = std::make_unique<Tokenizer::Parts>();
  const AddedToken cls = settings.special_or("cls_token", "[CLS]"),
                   sep = settings.special_or("sep_token", "[SEP]");
  settings.special_or("pad_token", "[PAD]");
  settings.special_or("mask_token", "[MASK]");
  parts->model = word_piece_model(std::move(vocabulary),
                                  {.unk_token = settings.special_or("unk_token", "[UNK]").content});
  parts->normalizer = bert_normalizer({.handle_chinese_chars = settings.tokenize_chinese_chars,
                                       .strip_accents = settings.strip_accents,
                                       .lowercase = settings.do_lower_case});
  parts->pre_tokenizer = bert_pre_tokenizer();
  add_tokens(*parts, settings, {});
  parts->post_processor =
      bert_processing({required_id(*parts, cls, kFile), required_id(*parts, sep, kFile)});
  return parts;
}

StringPool read_merges(std::string_view text) {
  StringPool merges;
  if (!is_well_formed_utf8(text)) throw FileError("'merges.txt' is not UTF-8; download it again");
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with("#version") || line.empty()) return;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      throw FileError(fmt::format(
          "'merges.txt': the line '{}' should be two tokens with a space between", line));
    }
    merges.add(line.substr(0, space));
    merges.add(line.substr(space + 1));
  });
  return merges;
}

std::unique_ptr<Tokenizer::Parts> read_roberta(const Bytes& vocabulary, const Bytes& merges,
                                               TokenizerSettings& settings) {
  constexpr std::string_view kFile = "vocab.json";
  require_model_type(settings, {"roberta", "roberta-prelayernorm", "longformer", "bart", "led"},
                     kFile);
  const bool add_prefix_space = settings.add_prefix_space.value_or(false);
  auto parts = std::make_unique<Tokenizer::Parts>();
  settings.special_or("bos_token", "<s>");
  settings.special_or("eos_token", "</s>");
  settings.special_or("unk_token", "<unk>");
  settings.special_or("pad_token", "<pad>");
  settings.special_or("mask_token", "<mask>");
  const AddedToken cls = settings.special_or("cls_token", "<s>"),
                   sep = settings.special_or("sep_token", "</s>");
  parts->model =
      bpe_model(vocabulary_with_ids(parse_vocabulary_document(vocabulary.text(), kFile), kFile),
                read_merges(merges.text()), {}, "merges.txt");
  parts->pre_tokenizer = byte_level({.add_prefix_space = add_prefix_space});
  add_tokens(*parts, settings, {});
  parts->post_processor =
      roberta_processing({required_id(*parts, cls, kFile), required_id(*parts, sep, kFile)});
  if (settings.trim_offsets)
    parts->post_processor.trims_with_prefix_space.push_back(add_prefix_space);
  return parts;
}

struct ScoredTokens {
  Vocabulary vocabulary;
  std::vector<double> scores;
  void add(std::string_view token, double score) {
    vocabulary.append(token);
    scores.push_back(score);
  }
};

// Control and user-defined pieces are found in the text as a whole.
std::vector<AddedToken> added_pieces(const SentencePieceModel& model) {
  std::vector<AddedToken> tokens;
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    if (piece.type == SentencePieceModel::Type::kControl ||
        piece.type == SentencePieceModel::Type::kUserDefined) {
      tokens.push_back(special_token(piece.text));
    }
  }
  return tokens;
}

PreTokenizer sentencepiece_words(const TokenizerSettings& settings) {
  const bool prepend = settings.add_prefix_space.value_or(true);
  return sequence(
      {whitespace_split(),
       metaspace({.prepend_scheme = prepend ? PrependScheme::kAlways : PrependScheme::kNever})});
}

std::unique_ptr<Tokenizer::Parts> read_albert(const Bytes& bytes, TokenizerSettings& settings) {
  constexpr std::string_view kFile = "spiece.model";
  constexpr int64_t kUnknownId = 1;
  require_model_type(settings, {"albert"}, kFile);
  const SentencePieceModel model = parse_sentencepiece_model(bytes.text(), kFile);
  ScoredTokens tokens;
  for (const SentencePieceModel::Piece& piece : model.pieces) tokens.add(piece.text, piece.score);

  std::vector<Normalizer> normalizers{replace(literal_pattern("``"), "\""),
                                      replace(literal_pattern("''"), "\"")};
  if (!settings.keep_accents) {
    normalizers.push_back(unicode_form(UnicodeForm::kNfkd));
    normalizers.push_back(strip_accents());
  }
  if (settings.do_lower_case) normalizers.push_back(lowercase());
  if (!model.charsmap.empty())
    normalizers.push_back(precompiled(std::make_shared<Charsmap>(model.charsmap, kFile)));

  auto parts = std::make_unique<Tokenizer::Parts>();
  settings.special_or("bos_token", "[CLS]");
  settings.special_or("eos_token", "[SEP]");
  settings.special_or("unk_token", "<unk>");
  settings.special_or("pad_token", "<pad>");
  settings.special_or("mask_token", "[MASK]");
  const AddedToken cls = settings.special_or("cls_token", "[CLS]"),
                   sep = settings.special_or("sep_token", "[SEP]");
  parts->model = unigram_model(std::move(tokens.vocabulary), std::move(tokens.scores),
                               {.unk_id = kUnknownId}, kFile);
  parts->normalizer = sequence(std::move(normalizers));
  parts->pre_tokenizer = sentencepiece_words(settings);
  add_tokens(*parts, settings, added_pieces(model));
  parts->post_processor =
      bert_processing({required_id(*parts, cls, kFile), required_id(*parts, sep, kFile)});
  return parts;
}

std::unique_ptr<Tokenizer::Parts> read_xlm_roberta(const Bytes& bytes,
                                                   TokenizerSettings& settings) {
  constexpr std::string_view kFile = "sentencepiece.bpe.model";
  constexpr int64_t kUnknownId = 3;
  constexpr size_t kOwnSpecials =
      3;  // <unk>, <s>, </s> of SentencePiece give way to fairseq's four
  require_model_type(settings, {"xlm-roberta", "xlm-roberta-xl"}, kFile);
  const SentencePieceModel model = parse_sentencepiece_model(bytes.text(), kFile);
  const AddedToken bos = settings.special_or("bos_token", "<s>"),
                   eos = settings.special_or("eos_token", "</s>");
  ScoredTokens tokens;
  tokens.add(bos.content, 0);
  tokens.add(settings.special_or("pad_token", "<pad>").content, 0);
  tokens.add(eos.content, 0);
  tokens.add(settings.special_or("unk_token", "<unk>").content, 0);
  for (size_t i = kOwnSpecials; i < model.pieces.size(); ++i)
    tokens.add(model.pieces[i].text, model.pieces[i].score);
  tokens.add(settings.special_or("mask_token", "<mask>").content, 0);
  settings.special_or("cls_token", "<s>");
  settings.special_or("sep_token", "</s>");

  auto parts = std::make_unique<Tokenizer::Parts>();
  parts->model = unigram_model(std::move(tokens.vocabulary), std::move(tokens.scores),
                               {.unk_id = kUnknownId}, kFile);
  if (!model.charsmap.empty())
    parts->normalizer = precompiled(std::make_shared<Charsmap>(model.charsmap, kFile));
  parts->pre_tokenizer = sentencepiece_words(settings);
  add_tokens(*parts, settings, added_pieces(model));
  parts->post_processor =
      roberta_processing({required_id(*parts, bos, kFile), required_id(*parts, eos, kFile)});
  return parts;
}

}  // namespace

std::unique_ptr<Tokenizer::Parts> read_legacy_folder(const FileLookup& files,
                                                     TokenizerSettings& settings) {
  if (const auto vocabulary = files("vocab.txt")) return read_bert(*vocabulary, settings);
  if (const auto vocabulary = files("vocab.json")) {
    if (const auto merges = files("merges.txt"))
      return read_roberta(*vocabulary, *merges, settings);
  }
  if (const auto model = files("spiece.model")) return read_albert(*model, settings);
  if (const auto model = files("sentencepiece.bpe.model"))
    return read_xlm_roberta(*model, settings);
  return nullptr;
}

}  // namespace whyformer::tokenization
