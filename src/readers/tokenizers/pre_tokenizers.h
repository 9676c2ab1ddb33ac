// The pre-tokenizers of tokenizer.json: how a cleaned text is split into words.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "readers/tokenizers/json_fields.h"
#include "readers/tokenizers/pieces.h"

namespace whyformer::tokenization {

using PreTokenizer = std::function<void(std::vector<Piece>&)>;

enum class PrependScheme { kFirst, kNever, kAlways };

struct ByteLevelOptions {
  bool add_prefix_space = true;
  bool use_regex = true;
};

struct MetaspaceOptions {
  char32_t replacement = 0x2581;  // ▁
  PrependScheme prepend_scheme = PrependScheme::kAlways;
  bool split = true;
};

PreTokenizer bert_pre_tokenizer();
PreTokenizer byte_level(const ByteLevelOptions& options);
PreTokenizer whitespace_split();
PreTokenizer metaspace(const MetaspaceOptions& options);
PreTokenizer sequence(std::vector<PreTokenizer> pre_tokenizers);

// Throws UnsupportedModel for a type it does not know.
PreTokenizer read_pre_tokenizer(const Json& json, std::string_view file);

}  // namespace whyformer::tokenization
