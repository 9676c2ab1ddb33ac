#include "readers/tokenizers/characters.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <iterator>

namespace whyformer::tokenization {
namespace {

enum class CharacterKind : uint8_t { kLetter, kMark, kNumber };
using enum CharacterKind;

struct RecentRange {
  char32_t first, last;
  CharacterKind kind;
};

// Assigned in Unicode 15.1 and 16, which Rust and Oniguruma know and ICU 72 does not. Sorted.
constexpr RecentRange kRecent[] = {
    {0x897, 0x897, kMark},       {0x1C89, 0x1C8A, kLetter},   {0xA7CB, 0xA7CD, kLetter},
    {0xA7DA, 0xA7DC, kLetter},   {0x105C0, 0x105F3, kLetter}, {0x10D40, 0x10D49, kNumber},
    {0x10D4A, 0x10D65, kLetter}, {0x10D69, 0x10D6D, kMark},   {0x10D6F, 0x10D85, kLetter},
    {0x10EC2, 0x10EC4, kLetter}, {0x10EFC, 0x10EFC, kMark},   {0x11380, 0x11389, kLetter},
    {0x1138B, 0x1138B, kLetter}, {0x1138E, 0x1138E, kLetter}, {0x11390, 0x113B5, kLetter},
    {0x113B7, 0x113B7, kLetter}, {0x113B8, 0x113C0, kMark},   {0x113C2, 0x113C2, kMark},
    {0x113C5, 0x113C5, kMark},   {0x113C7, 0x113CA, kMark},   {0x113CC, 0x113D0, kMark},
    {0x113D1, 0x113D1, kLetter}, {0x113D2, 0x113D2, kMark},   {0x113D3, 0x113D3, kLetter},
    {0x113E1, 0x113E2, kMark},   {0x116D0, 0x116E3, kNumber}, {0x11BC0, 0x11BE0, kLetter},
    {0x11BF0, 0x11BF9, kNumber}, {0x11F5A, 0x11F5A, kMark},   {0x13460, 0x143FA, kLetter},
    {0x16100, 0x1611D, kLetter}, {0x1611E, 0x1612F, kMark},   {0x16130, 0x16139, kNumber},
    {0x16D40, 0x16D6C, kLetter}, {0x16D70, 0x16D79, kNumber}, {0x18CFF, 0x18CFF, kLetter},
    {0x1CCF0, 0x1CCF9, kNumber}, {0x1E5D0, 0x1E5ED, kLetter}, {0x1E5EE, 0x1E5EF, kMark},
    {0x1E5F0, 0x1E5F0, kLetter}, {0x1E5F1, 0x1E5FA, kNumber}, {0x2EBF0, 0x2EE5D, kLetter},
};

const RecentRange* recent(char32_t c) {
  const auto after = std::upper_bound(
      std::begin(kRecent), std::end(kRecent), c,
      [](char32_t value, const RecentRange& range) { return value < range.first; });
  if (after == std::begin(kRecent)) return nullptr;
  const auto range = std::prev(after);
  return c <= range->last ? range : nullptr;
}

bool is_recent(char32_t c, CharacterKind kind) {
  const RecentRange* range = recent(c);
  return range != nullptr && range->kind == kind;
}

std::string recent_set(CharacterKind kind) {
  std::string set;
  for (const RecentRange& range : kRecent) {
    if (range.kind != kind) continue;
    set += fmt::format("\\x{{{:X}}}-\\x{{{:X}}}", static_cast<uint32_t>(range.first),
                       static_cast<uint32_t>(range.last));
  }
  return set;
}

bool has_category(char32_t c, uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & mask) != 0;
}

bool is_assigned_before(char32_t c, uint8_t version) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] < version;
}

}  // namespace

void append_utf8(std::string& text, char32_t character) {
  if (character < 0x80) {
    text.push_back(static_cast<char>(character));
    return;
  }
  char bytes[4];
  int32_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, character);
  text.append(bytes, static_cast<size_t>(length));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_well_formed_utf8(std::string_view text) {
  size_t position = 0;
  while (position < text.size()) {
    UChar32 character;
    U8_NEXT(text.data(), position, text.size(), character);
    if (character < 0) return false;
  }
  return true;
}

int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

CleanText replace_ill_formed_utf8(std::string_view text) {
  CleanText clean;
  if (is_ascii(text) || is_well_formed_utf8(text)) {
    clean.text = text;
    return clean;
  }
  clean.text.reserve(text.size() + text.size() / 2);
  size_t position = 0;
  while (position < text.size()) {
    UChar32 character;
    U8_NEXT(text.data(), position, text.size(), character);
    if (character < 0) ++clean.replaced;
    append_utf8(clean.text, character < 0 ? U'\uFFFD' : static_cast<char32_t>(character));
  }
  return clean;
}

bool is_whitespace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_numeric(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  const bool unicode_17 = (c >= 0x11DE0 && c <= 0x11DE9) || (c >= 0x16FF4 && c <= 0x16FF6);
  return is_number(c) || unicode_17;
}

bool is_word_character(char32_t c) {
  if (c < 0x80)
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_ALPHABETIC) ||
         has_category(c, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK) || c == 0x200C || c == 0x200D ||
         recent(c) != nullptr;
}

bool is_letter(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return has_category(c, U_GC_L_MASK) || is_recent(c, kLetter);
}

bool is_number(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return has_category(c, U_GC_N_MASK) || is_recent(c, kNumber);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80)
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
           (c >= 123 && c <= 126);
  if (c == 0x166D || c == 0x111C9) return true;  // recategorised since
  return has_category(c, U_GC_P_MASK) && is_assigned_before(c, 9);
}

bool is_nonspacing_mark(char32_t c) {
  if (c < 0x300) return false;
  if (c == 0x1734) return true;  // recategorised since, as are those below
  if (c == 0x1885 || c == 0x1886 || c == 0xA9BD || c == 0x111C9) return false;
  return has_category(c, U_GC_MN_MASK) && is_assigned_before(c, 9);
}

bool is_combining_mark(char32_t c) {
  if (c < 0x300) return false;
  if (c == 0x1CF2 || c == 0x1CF3) return true;  // recategorised since
  if (c == 0x111C9) return false;
  return has_category(c, U_GC_M_MASK) && is_older_than_unicode_10(c);
}

bool is_other(char32_t c) {
  if (c < 0x80) return c < 0x20 || c == 0x7F;
  return has_category(c, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK) && is_assigned_before(c, 9);
}

bool is_chinese_character(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_older_than_unicode_10(char32_t c) { return is_assigned_before(c, 10); }

std::string recent_letters() { return recent_set(kLetter); }
std::string recent_marks() { return recent_set(kMark); }
std::string recent_numbers() { return recent_set(kNumber); }

char32_t to_lower(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  const auto lower = static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)));
  if (lower != c || c < 0x1C89) return lower;
  // Case pairs of Unicode 16 and 17.
  if (c >= 0x10D50 && c <= 0x10D65) return c + 0x20;
  if (c >= 0x16EA0 && c <= 0x16EB8) return c + 0x1B;
  switch (c) {
    case 0xA7CB:
      return 0x264;
    case 0xA7DC:
      return 0x19B;
    case 0x1C89:
    case 0xA7CC:
    case 0xA7CE:
    case 0xA7D2:
    case 0xA7D4:
    case 0xA7DA:
      return c + 1;
    default:
      return c;
  }
}

}  // namespace whyformer::tokenization
