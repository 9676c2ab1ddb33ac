#include "whyformer/printable.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

namespace whyformer {
namespace {

bool steers_the_terminal(UChar32 c) {
  // Joiners and tags build emoji and Indic letters; they are harmless and must stay.
  if (c == 0x200C || c == 0x200D || (c >= 0xE0020 && c <= 0xE007F)) return false;
  const int8_t type = u_charType(c);
  return type == U_CONTROL_CHAR || type == U_FORMAT_CHAR || type == U_LINE_SEPARATOR ||
         type == U_PARAGRAPH_SEPARATOR;
}

std::string in_utf8(UChar32 c) {
  uint8_t bytes[U8_MAX_LENGTH];
  int32_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, c);
  return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(length)};
}

std::string spelled_out(UChar32 c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  return c < 0x100 ? fmt::format("\\x{:02x}", c) : fmt::format("\\u{{{:x}}}", c);
}

// Line feeds stand between the values of JSON, never raw inside a string.
std::string spelled_out_in_json(UChar32 c) {
  if (c == '\n') return "\n";
  if (c <= 0xFFFF) return fmt::format("\\u{:04x}", c);
  return fmt::format("\\u{:04x}\\u{:04x}", static_cast<int>(U16_LEAD(c)),
                     static_cast<int>(U16_TRAIL(c)));
}

template <class Spell>
std::string without_steering(std::string_view text, Spell spell) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto length = static_cast<int64_t>(text.size());
  std::string out;
  out.reserve(text.size());
  for (int64_t i = 0; i < length;) {
    if (text[i] >= 0x20 && text[i] < 0x7f) {
      out += text[i++];
      continue;
    }
    UChar32 code_point;
    U8_NEXT_OR_FFFD(bytes, i, length, code_point);
    out += steers_the_terminal(code_point) ? spell(code_point) : in_utf8(code_point);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return without_steering(text, spelled_out); }

std::string printable_json(std::string_view json) {
  return without_steering(json, spelled_out_in_json);
}

std::string quantity(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace whyformer
