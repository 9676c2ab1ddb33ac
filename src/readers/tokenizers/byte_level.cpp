#include "readers/tokenizers/byte_level.h"

#include <array>

namespace whyformer::tokenization {
namespace {

constexpr bool is_printable(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) ||
         (byte >= 0xAE && byte <= 0xFF);
}

constexpr std::array<char32_t, 256> kByteCharacters = [] {
  std::array<char32_t, 256> characters{};
  char32_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    characters[static_cast<size_t>(byte)] =
        is_printable(byte) ? static_cast<char32_t>(byte) : next++;
  }
  return characters;
}();
static_assert(kByteCharacters[' '] == kSpaceCharacter);

enum class WordKind { kLetters, kNumbers, kSpaces, kOthers };

WordKind kind_of(char32_t c) {
  if (is_whitespace(c)) return WordKind::kSpaces;
  if (is_letter(c)) return WordKind::kLetters;
  return is_number(c) ? WordKind::kNumbers : WordKind::kOthers;
}

size_t contraction_length(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

size_t end_of_run(std::string_view text, size_t position, WordKind kind) {
  while (position < text.size()) {
    size_t after = position;
    if (kind_of(next_character(text, after)) != kind) break;
    position = after;
  }
  return position;
}

size_t end_of_word(std::string_view text, size_t begin) {
  if (text[begin] == '\'') {
    if (const size_t length = contraction_length(text.substr(begin))) return begin + length;
  }
  size_t first = begin;  // behind one optional space
  if (text[begin] == ' ' && begin + 1 < text.size()) {
    size_t after = begin + 1;
    if (kind_of(next_character(text, after)) != WordKind::kSpaces) first = begin + 1;
  }
  size_t after = first;
  const WordKind kind = kind_of(next_character(text, after));
  if (kind != WordKind::kSpaces) return end_of_run(text, after, kind);
  // A run of spaces leaves its last one to the word behind it.
  size_t last = begin;
  size_t end = begin;
  while (end < text.size()) {
    size_t next = end;
    if (!is_whitespace(next_character(text, next))) break;
    last = end;
    end = next;
  }
  return end == text.size() || last == begin ? end : last;
}

}  // namespace

char32_t byte_character(unsigned char byte) { return kByteCharacters[byte]; }

void bytes_to_characters(AlignedText& aligned) {
  const std::string& text = aligned.text();
  if (text.empty()) return;
  std::vector<CharacterChange> changes;
  changes.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xC0) == 0x80;
    changes.push_back({byte_character(byte), continues ? 1 : 0});
  }
  aligned.transform(changes, 0);
}

std::vector<Match> find_gpt2_words(std::string_view text) {
  std::vector<Match> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = end_of_word(text, begin);
    words.push_back({begin, end, true});
    begin = end;
  }
  return words;
}

}  // namespace whyformer::tokenization
