// UTF-8 and the character classes that tokenizers are built on.
//
// The `tokenizers` package draws on libraries that know different versions of Unicode. Each
// function below gives the answer of the version the package uses for that purpose, on top of ICU's
// tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace whyformer::tokenization {

// Bytes of the UTF-8 sequence that starts with `lead`, in well-formed text.
inline size_t utf8_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

// Reads the character at `position` of well-formed UTF-8 and moves behind it.
inline char32_t next_character(std::string_view text, size_t& position) {
  const auto byte = [&](size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[position + i]));
  };
  const char32_t lead = byte(0);
  const size_t length = utf8_length(static_cast<unsigned char>(lead));
  char32_t character = lead;
  if (length == 2) character = (lead & 0x1F) << 6 | (byte(1) & 0x3F);
  if (length == 3) character = (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
  if (length == 4) {
    character =
        (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
  position += length;
  return character;
}

inline size_t utf8_length_of(char32_t character) {
  if (character < 0x80) return 1;
  if (character < 0x800) return 2;
  return character < 0x10000 ? 3 : 4;
}

void append_utf8(std::string& text, char32_t character);
bool is_ascii(std::string_view text);
bool is_well_formed_utf8(std::string_view text);
int64_t count_characters(std::string_view text);

// A copy with each ill-formed sequence (the maximal subpart, as browsers do) replaced by U+FFFD.
struct CleanText {
  std::string text;
  int64_t replaced = 0;
};
CleanText replace_ill_formed_utf8(std::string_view text);

bool is_whitespace(char32_t c);         // White_Space, Rust's char::is_whitespace
bool is_numeric(char32_t c);            // Nd, Nl, No, Rust's char::is_numeric
bool is_word_character(char32_t c);     // \w of Rust's regex crate
bool is_letter(char32_t c);             // \p{L} of Oniguruma
bool is_number(char32_t c);             // \p{N} of Oniguruma
bool is_punctuation(char32_t c);        // ASCII punctuation and P* of Unicode 8
bool is_nonspacing_mark(char32_t c);    // Mn of Unicode 8
bool is_combining_mark(char32_t c);     // M* of Unicode 9
bool is_other(char32_t c);              // Cc, Cf, Co of Unicode 8
bool is_chinese_character(char32_t c);  // the CJK blocks BERT puts spaces around
bool is_older_than_unicode_10(char32_t c);

// The characters of these kinds that ICU does not know yet, as the inside of a regular expression's
// [...].
std::string recent_letters();
std::string recent_marks();
std::string recent_numbers();

// Lower case, character by character (no final sigma). U+0130 is the only one that becomes two
// characters.
char32_t to_lower(char32_t c);
constexpr char32_t kCapitalIWithDot = 0x130;

}  // namespace whyformer::tokenization
