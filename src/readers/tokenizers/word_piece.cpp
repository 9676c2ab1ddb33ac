#include <fmt/format.h>

#include <algorithm>

#include "readers/tokenizers/characters.h"
#include "readers/tokenizers/token_model.h"
#include "whyformer/error.h"

namespace whyformer::tokenization {
namespace {

[[noreturn]] void fail_without_unknown_token(std::string_view unk_token) {
  throw InvalidInput(fmt::format(
      "the text has a word that is not in the vocabulary, and neither is the unknown token "
      "'{}'; add it to the vocabulary or change the text",
      unk_token));
}

// Greedy: the longest token of the vocabulary that starts the word, then the longest that continues
// it.
class WordPiece final : public TokenModel {
 public:
  WordPiece(Vocabulary vocabulary, WordPieceOptions options)
      : TokenModel(std::move(vocabulary)),
        options_(std::move(options)),
        unknown_(this->vocabulary().find(options_.unk_token)) {}

  void tokenize(std::string_view word, std::vector<ModelToken>& tokens) const override {
    const size_t known = tokens.size();
    if (count_characters(word) > options_.max_input_chars_per_word) {
      add_unknown(word, tokens);
      return;
    }
    const size_t prefix = options_.continuing_subword_prefix.size();
    std::string candidate;
    for (size_t begin = 0; begin < word.size();) {
      std::string_view rest = word;
      if (begin > 0) {
        candidate.assign(options_.continuing_subword_prefix)
            .append(word.substr(begin, vocabulary().longest_token()));
        rest = candidate;
      }
      const auto [id, length] = longest_token(rest, begin == 0 ? 0 : prefix);
      if (length == 0) {
        tokens.resize(known);
        add_unknown(word, tokens);
        return;
      }
      tokens.push_back({id, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + length)});
      begin += length;
    }
  }

  std::optional<int64_t> unknown_id() const override { return unknown_; }

 private:
  struct Found {
    int64_t id;
    size_t length;  // bytes of the word; 0 if nothing was found
  };

  Found longest_token(std::string_view text, size_t prefix) const {
    for (const size_t end : vocabulary().token_lengths()) {
      if (end > text.size()) continue;
      if (end <= prefix) break;
      const bool inside_character =
          end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80;
      if (inside_character) continue;
      if (const auto id = vocabulary().find(text.substr(0, end))) return {*id, end - prefix};
    }
    return {0, 0};
  }

  void add_unknown(std::string_view word, std::vector<ModelToken>& tokens) const {
    if (!unknown_) fail_without_unknown_token(options_.unk_token);
    tokens.push_back({*unknown_, 0, static_cast<uint32_t>(word.size())});
  }

  WordPieceOptions options_;
  std::optional<int64_t> unknown_;
};

class WordLevel final : public TokenModel {
 public:
  WordLevel(Vocabulary vocabulary, std::string unk_token)
      : TokenModel(std::move(vocabulary)),
        unk_token_(std::move(unk_token)),
        unknown_(this->vocabulary().find(unk_token_)) {}

  void tokenize(std::string_view word, std::vector<ModelToken>& tokens) const override {
    const auto id = vocabulary().find(word);
    if (!id && !unknown_) fail_without_unknown_token(unk_token_);
    tokens.push_back({id ? *id : *unknown_, 0, static_cast<uint32_t>(word.size())});
  }

  std::optional<int64_t> unknown_id() const override { return unknown_; }

 private:
  std::string unk_token_;
  std::optional<int64_t> unknown_;
};

}  // namespace

std::unique_ptr<const TokenModel> word_piece_model(Vocabulary vocabulary,
                                                   WordPieceOptions options) {
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(options));
}

std::unique_ptr<const TokenModel> word_level_model(Vocabulary vocabulary, std::string unk_token) {
  return std::make_unique<WordLevel>(std::move(vocabulary), std::move(unk_token));
}

}  // namespace whyformer::tokenization
