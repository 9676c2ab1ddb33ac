#include "report/views/text.h"

#include <fmt/format.h>
#include <unicode/brkiter.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <memory>

#include "whyformer/error.h"

namespace whyformer::report {
namespace {

constexpr UChar32 kEmojiPresentation = 0xFE0F;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

int code_point_columns(UChar32 c) {
  const int8_t type = u_charType(c);
  if (type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK || type == U_FORMAT_CHAR) return 0;
  const int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

int grapheme_columns(std::string_view grapheme) {
  int widest = 0;
  int regional = 0;
  for_each_code_point(grapheme, [&](UChar32 c, size_t, size_t) {
    widest = std::max(widest, c == kEmojiPresentation ? 2 : code_point_columns(c));
    regional += u_hasBinaryProperty(c, UCHAR_REGIONAL_INDICATOR) ? 1 : 0;
  });
  return regional == 2 ? 2 : widest;
}

}  // namespace

std::vector<std::string> graphemes(std::string_view text) {
  std::vector<std::string> parts;
  if (is_ascii(text)) {
    for (const char c : text) parts.emplace_back(1, c);
    return parts;
  }
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), status));
  if (U_FAILURE(status)) {
    throw Error(fmt::format("splitting text into characters: ICU says {}", u_errorName(status)));
  }
  const auto unicode = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
  breaks->setText(unicode);
  int32_t start = breaks->first();
  for (int32_t end = breaks->next(); end != icu::BreakIterator::DONE; end = breaks->next()) {
    unicode.tempSubStringBetween(start, end).toUTF8String(parts.emplace_back());
    start = end;
  }
  return parts;
}

int columns(std::string_view text) {
  if (is_ascii(text)) return static_cast<int>(text.size());
  int total = 0;
  for (const std::string& grapheme : graphemes(text)) total += grapheme_columns(grapheme);
  return total;
}

std::string shortened(std::string_view text, int limit) {
  if (columns(text) <= limit) return std::string(text);
  std::string out;
  int used = 1;  // the "…"
  for (const std::string& grapheme : graphemes(text)) {
    used += grapheme_columns(grapheme);
    if (used > limit) break;
    out += grapheme;
  }
  return out + "…";
}

std::string right_aligned(std::string_view text, int width) {
  return std::string(static_cast<size_t>(std::max(0, width - columns(text))), ' ') +
         std::string(text);
}

std::string left_aligned(std::string_view text, int width) {
  return std::string(text) +
         std::string(static_cast<size_t>(std::max(0, width - columns(text))), ' ');
}

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace whyformer::report
