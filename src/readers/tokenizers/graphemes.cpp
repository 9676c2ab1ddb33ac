#include "readers/tokenizers/graphemes.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <iterator>

#include "readers/tokenizers/characters.h"

namespace whyformer::tokenization {
namespace {

int32_t break_class(char32_t c) {
  if (c >= 0x20 && c < 0x7F) return U_GCB_OTHER;
  return u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_GRAPHEME_CLUSTER_BREAK);
}

bool is_pictographic(char32_t c) {
  return c >= 0xA9 && u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_EXTENDED_PICTOGRAPHIC);
}

// Indic_Conjunct_Break=Linker; ICU 72 does not know this property yet.
bool is_conjunct_linker(char32_t c) {
  constexpr char32_t kLinkers[] = {0x94D,   0x9CD,   0xACD,   0xB4D,   0xC4D,   0xD4D,  0x1039,
                                   0x17D2,  0x1A60,  0x1B44,  0x1BAB,  0xA9C0,  0xAAF6, 0x10A3F,
                                   0x11133, 0x113D0, 0x1193E, 0x11A47, 0x11A99, 0x11F42};
  return c >= 0x94D && std::binary_search(std::begin(kLinkers), std::end(kLinkers), c);
}

bool is_conjunct_consonant(char32_t c) {
  if (c < 0x915) return false;
  if (u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_INDIC_SYLLABIC_CATEGORY) !=
      U_INSC_CONSONANT)
    return false;
  UErrorCode status = U_ZERO_ERROR;
  switch (uscript_getScript(static_cast<UChar32>(c), &status)) {
    case USCRIPT_DEVANAGARI:
    case USCRIPT_BENGALI:
    case USCRIPT_GUJARATI:
    case USCRIPT_ORIYA:
    case USCRIPT_TELUGU:
    case USCRIPT_MALAYALAM:
    case USCRIPT_MYANMAR:
    case USCRIPT_KHMER:
    case USCRIPT_LANNA:
    case USCRIPT_BALINESE:
    case USCRIPT_SUNDANESE:
    case USCRIPT_JAVANESE:
    case USCRIPT_MEITEI_MAYEK:
      return true;
    default:
      return false;
  }
}

// What the rules need to know about the cluster so far.
struct Cluster {
  char32_t last = 0;
  int32_t last_class = U_GCB_OTHER;
  int regional_indicators = 0;
  bool pictographic_then_extend = false;  // \p{Extended_Pictographic} Extend* ZWJ?, for GB11
  bool consonant = false;                 // consonant [extend linker]*, for GB9c
  bool linker = false;

  explicit Cluster(char32_t first) { add(first, break_class(first)); }

  void add(char32_t c, int32_t c_class) {
    const bool extends = c_class == U_GCB_EXTEND || c_class == U_GCB_ZWJ;
    pictographic_then_extend =
        is_pictographic(c) || (pictographic_then_extend && extends && last_class != U_GCB_ZWJ);
    if (is_conjunct_consonant(c)) {
      consonant = true;
      linker = false;
    } else if (is_conjunct_linker(c)) {
      linker = consonant;
    } else if (!extends) {
      consonant = linker = false;
    }
    if (c_class == U_GCB_REGIONAL_INDICATOR) ++regional_indicators;
    last = c;
    last_class = c_class;
  }

  bool continues_with(char32_t c, int32_t c_class) const {
    const auto is_control = [](int32_t value) {
      return value == U_GCB_CONTROL || value == U_GCB_CR || value == U_GCB_LF;
    };
    if (last_class == U_GCB_CR && c_class == U_GCB_LF) return true;   // GB3
    if (is_control(last_class) || is_control(c_class)) return false;  // GB4, GB5
    switch (c_class) {
      case U_GCB_EXTEND:
      case U_GCB_ZWJ:  // GB9
      case U_GCB_SPACING_MARK:
        return true;  // GB9a
      case U_GCB_L:
      case U_GCB_LV:
      case U_GCB_LVT:  // GB6
        if (last_class == U_GCB_L) return true;
        break;
      case U_GCB_V:
        if (last_class == U_GCB_L || last_class == U_GCB_LV || last_class == U_GCB_V) return true;
        break;
      case U_GCB_T:  // GB7, GB8
        if (last_class == U_GCB_LV || last_class == U_GCB_V) return true;
        if (last_class == U_GCB_LVT || last_class == U_GCB_T) return true;
        break;
      default:
        break;
    }
    if (last_class == U_GCB_PREPEND) return true;         // GB9b
    if (linker && is_conjunct_consonant(c)) return true;  // GB9c
    if (last_class == U_GCB_ZWJ && pictographic_then_extend && is_pictographic(c))
      return true;  // GB11
    return last_class == U_GCB_REGIONAL_INDICATOR && c_class == U_GCB_REGIONAL_INDICATOR &&
           regional_indicators % 2 == 1;  // GB12, GB13
  }
};

bool is_printable_ascii(char c) { return c >= 0x20 && c < 0x7F; }

}  // namespace

size_t grapheme_end(std::string_view text, size_t begin) {
  size_t end = begin;
  if (is_printable_ascii(text[begin]) &&
      (begin + 1 == text.size() || is_printable_ascii(text[begin + 1]))) {
    return begin + 1;
  }
  Cluster cluster(next_character(text, end));
  while (end < text.size()) {
    size_t after = end;
    const char32_t next = next_character(text, after);
    const int32_t next_class = break_class(next);
    if (!cluster.continues_with(next, next_class)) break;
    cluster.add(next, next_class);
    end = after;
  }
  return end;
}

}  // namespace whyformer::tokenization
