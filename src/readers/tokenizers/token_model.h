// The four kinds of model in tokenizer.json: how a word becomes tokens of the vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/tokenizers/vocabulary.h"

namespace whyformer::tokenization {

struct ModelToken {
  int64_t id;
  uint32_t begin, end;  // bytes of the word
  bool operator==(const ModelToken&) const = default;
};

class TokenModel {
 public:
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
    vocabulary_.seal();
  }
  virtual ~TokenModel() = default;

  // Appends the tokens of `word`. Throws InvalidInput if the word needs an unknown token and there
  // is none.
  virtual void tokenize(std::string_view word, std::vector<ModelToken>& tokens) const = 0;
  virtual std::optional<int64_t> unknown_id() const = 0;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

struct WordPieceOptions {
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  int64_t max_input_chars_per_word = 100;
};
std::unique_ptr<const TokenModel> word_piece_model(Vocabulary vocabulary, WordPieceOptions options);

std::unique_ptr<const TokenModel> word_level_model(Vocabulary vocabulary, std::string unk_token);

struct BpeOptions {
  std::optional<std::string> unk_token{};
  std::string continuing_subword_prefix{};
  std::string end_of_word_suffix{};
  bool fuse_unk = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
};
// `merges` holds two strings per merge, the most urgent merge first. Throws FileError naming
// `file`.
std::unique_ptr<const TokenModel> bpe_model(Vocabulary vocabulary, const StringPool& merges,
                                            BpeOptions options, std::string_view file);

struct UnigramOptions {
  std::optional<int64_t> unk_id{};
  bool byte_fallback = false;
};
// `scores` has one logarithm of a probability per token, in the order of their ids. Throws
// FileError naming `file`.
std::unique_ptr<const TokenModel> unigram_model(Vocabulary vocabulary, std::vector<double> scores,
                                                const UnigramOptions& options,
                                                std::string_view file);

}  // namespace whyformer::tokenization
