// Tokens that are looked for in the text itself, before (or after) it is normalised: [MASK], </s>,
// ...
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/tokenizers/json_fields.h"
#include "readers/tokenizers/normalizers.h"
#include "readers/tokenizers/pieces.h"
#include "readers/tokenizers/prefix_tree.h"
#include "readers/tokenizers/token_model.h"

namespace whyformer::tokenization {

struct AddedToken {
  std::string content;
  bool single_word = false;  // not inside a word
  bool lstrip = false;       // takes the spaces on its left
  bool rstrip = false;       // takes the spaces on its right
  bool normalized = true;    // looked for in the normalised text
  bool operator==(const AddedToken&) const = default;
};

// A special token as transformers adds it when only its name is known.
AddedToken special_token(std::string content);

class AddedTokens {
 public:
  // Tokens that the model knows keep its id, the others get the next free ones, whatever their file
  // says.
  void add(const std::vector<AddedToken>& tokens, const TokenModel& model);
  // Prepares the search. After the last add, before the first split.
  void seal(const Normalizer& normalizer);

  std::optional<int64_t> find(std::string_view content) const;
  const std::string* content_of(int64_t id) const;
  const std::map<int64_t, AddedToken>& tokens() const { return tokens_; }

  // The text in pieces, normalised, with the added tokens found in it.
  std::vector<Piece> split(std::string_view text, const Normalizer& normalizer) const;

 private:
  void split_at(const AlignedText& text, const PrefixTree& tree, std::vector<Piece>& pieces) const;

  std::map<std::string, int64_t, std::less<>> ids_;
  std::map<int64_t, AddedToken> tokens_;
  PrefixTree in_raw_text_, in_normalized_text_;
};

AddedToken read_added_token(const JsonFields& fields);

}  // namespace whyformer::tokenization
