#include "readers/tokenizers/unicode_forms.h"

#include <unicode/unorm2.h>

#include <algorithm>
#include <iterator>

#include "whyformer/error.h"

namespace whyformer::tokenization {
namespace {

struct Tables {
  const UNormalizer2* canonical;
  const UNormalizer2* compatible;
};

const Tables& tables() {
  static const Tables loaded = [] {
    UErrorCode status = U_ZERO_ERROR;
    const Tables found{unorm2_getNFCInstance(&status), unorm2_getNFKCInstance(&status)};
    if (U_FAILURE(status)) throw Error("cannot load the Unicode normalisation tables of ICU");
    return found;
  }();
  return loaded;
}

uint8_t combining_class(char32_t c) {
  if (c < 0x300) return 0;
  const uint8_t value = unorm2_getCombiningClass(tables().canonical, static_cast<UChar32>(c));
  return value != 0 && is_older_than_unicode_10(c) ? value : 0;
}

template <typename Emit>
void decompose(char32_t c, const UNormalizer2* table, Emit emit) {
  UChar units[32];
  UErrorCode status = U_ZERO_ERROR;
  const int32_t length = c < 0x80 ? -1
                                  : unorm2_getDecomposition(table, static_cast<UChar32>(c), units,
                                                            std::size(units), &status);
  if (length < 0 || U_FAILURE(status) || !is_older_than_unicode_10(c)) {
    emit(c);
    return;
  }
  for (int32_t i = 0; i < length;) {
    UChar32 part;
    U16_NEXT(units, i, length, part);
    emit(static_cast<char32_t>(part));
  }
}

// Characters of a nonzero class are put in the order of their classes; each takes its change along.
std::vector<CharacterChange> decomposed(std::string_view text, const UNormalizer2* table) {
  std::vector<CharacterChange> changes;
  changes.reserve(text.size());
  size_t pending = 0;  // since the last character of class 0
  bool marks = false;
  const auto put_in_order = [&] {
    if (marks) {
      std::stable_sort(changes.begin() + static_cast<std::ptrdiff_t>(pending), changes.end(),
                       [](const CharacterChange& a, const CharacterChange& b) {
                         return combining_class(a.character) < combining_class(b.character);
                       });
    }
    marks = false;
  };
  for (size_t position = 0; position < text.size();) {
    int32_t change = 0;
    decompose(next_character(text, position), table, [&](char32_t part) {
      if (combining_class(part) == 0) {
        put_in_order();
        pending = changes.size();
      } else {
        marks = true;
      }
      changes.push_back({part, change});
      change = 1;
    });
  }
  put_in_order();
  return changes;
}

char32_t compose(char32_t a, char32_t b) {
  if (a < 0x80 && b < 0x80) return 0;
  const UChar32 composed =
      unorm2_composePair(tables().canonical, static_cast<UChar32>(a), static_cast<UChar32>(b));
  if (composed < 0 || !is_older_than_unicode_10(static_cast<char32_t>(composed))) return 0;
  return static_cast<char32_t>(composed);
}

std::vector<CharacterChange> recomposed(const std::vector<CharacterChange>& parts) {
  std::vector<CharacterChange> changes;
  changes.reserve(parts.size());
  size_t starter = 0;  // index of the character that may still compose
  bool has_starter = false;
  int last_class = -1;  // of the marks kept behind the starter
  for (const CharacterChange& part : parts) {
    const int part_class = combining_class(part.character);
    if (!has_starter) {
      changes.push_back(part);
      has_starter = part_class == 0;
      starter = changes.size() - 1;
      continue;
    }
    const bool blocked = last_class >= part_class;
    if (!blocked) {
      if (const char32_t composed = compose(changes[starter].character, part.character)) {
        changes[starter] = {composed, changes[starter].change + part.change - 1};
        continue;
      }
    }
    changes.push_back(part);
    last_class = part_class;
    if (part_class == 0) {
      starter = changes.size() - 1;
      last_class = -1;
    }
  }
  return changes;
}

}  // namespace

std::vector<CharacterChange> normalization_changes(std::string_view text, UnicodeForm form) {
  const bool compatible = form == UnicodeForm::kNfkd || form == UnicodeForm::kNfkc;
  std::vector<CharacterChange> changes =
      decomposed(text, compatible ? tables().compatible : tables().canonical);
  if (form == UnicodeForm::kNfd || form == UnicodeForm::kNfkd) return changes;
  return recomposed(changes);
}

}  // namespace whyformer::tokenization
