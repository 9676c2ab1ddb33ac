// What Replace and Split look for: a literal string, or a regular expression in Oniguruma's syntax.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "readers/tokenizers/aligned_text.h"
#include "readers/tokenizers/json_fields.h"

namespace whyformer::tokenization {

class TextPattern {
 public:
  virtual ~TextPattern() = default;
  // All matches and the stretches between them, in order; together they cover the text.
  virtual std::vector<Match> find(std::string_view text) const = 0;
};

std::shared_ptr<const TextPattern> literal_pattern(std::string literal);
// Throws UnsupportedModel naming `file` if ICU cannot compile the expression.
std::shared_ptr<const TextPattern> regex_pattern(std::string_view expression,
                                                 std::string_view file);

// Reads {"String": ...} or {"Regex": ...}.
std::shared_ptr<const TextPattern> read_pattern(const Json& json, std::string_view file);

// Matches single characters.
template <typename Predicate>
std::vector<Match> find_characters(std::string_view text, Predicate matches) {
  std::vector<Match> found;
  size_t pending = 0;
  for (size_t position = 0; position < text.size();) {
    const size_t begin = position;
    if (!matches(next_character(text, position))) continue;
    if (pending < begin) found.push_back({pending, begin, false});
    found.push_back({begin, position, true});
    pending = position;
  }
  if (pending < text.size() || text.empty()) found.push_back({pending, text.size(), false});
  return found;
}

}  // namespace whyformer::tokenization
