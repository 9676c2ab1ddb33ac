// tokenizer.json, read in one pass. Its vocabulary and merges, which are most of the file, never
// become JSON values.
#pragma once

#include <string_view>
#include <vector>

#include "readers/tokenizers/json_fields.h"
#include "readers/tokenizers/vocabulary.h"

namespace whyformer::tokenization {

struct TokenizerDocument {
  Json tree;                    // everything but model.vocab and model.merges
  StringPool tokens;            // of the vocabulary, in the order of the file
  std::vector<double> numbers;  // their ids, or their scores if the vocabulary is a list of pairs
  bool vocabulary_is_list = false;
  StringPool merges;  // two strings per merge
};

// Throws FileError naming `file`.
TokenizerDocument parse_tokenizer_document(std::string_view text, std::string_view file);
// A file that is only a vocabulary: {"token": id, ...}.
TokenizerDocument parse_vocabulary_document(std::string_view text, std::string_view file);

// The vocabulary of a document whose numbers are ids. Throws FileError naming `file`.
Vocabulary vocabulary_with_ids(const TokenizerDocument& document, std::string_view file);

}  // namespace whyformer::tokenization
