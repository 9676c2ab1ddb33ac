// Text that remembers, byte by byte, which part of the original it came from.
//
// Offsets have to be those of the `tokenizers` package, so the bookkeeping follows its
// NormalizedString: a change is told character by character, and an inserted character shares the
// place of the one before it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/tokenizers/characters.h"

namespace whyformer::tokenization {

struct Span {
  uint32_t begin = 0, end = 0;  // bytes
  bool operator==(const Span&) const = default;
};

// One character of the new text: 0 = in place of the next old one, 1 = inserted,
// -n = in place of the next old one, and the n old ones behind it are gone.
struct CharacterChange {
  char32_t character;
  int32_t change;
};

// A stretch of text that matched a pattern, or the stretch between two matches.
struct Match {
  size_t begin, end;
  bool matched;
  bool operator==(const Match&) const = default;
};

// How much rules of a tokenizer may make of so many bytes of text. Compatibility forms make up to
// 11 times as much of a letter, bytes as letters twice as much, and prefixes a little more.
constexpr size_t most_bytes_made_of(size_t original) {
  constexpr size_t kTimes = 64, kMore = 1024, kMost = size_t{1} << 31;
  return std::min(kMost, kTimes * original + kMore);
}

class AlignedText {
 public:
  explicit AlignedText(std::string_view original);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  uint32_t original_begin() const { return original_.begin; }

  // Where bytes [begin, end) of the text came from; nothing if they are beyond its end.
  std::optional<Span> original(size_t begin, size_t end) const;
  AlignedText slice(size_t begin, size_t end) const;

  // Throws UnsupportedModel where rules of a tokenizer make so many bytes of the original: many
  // times what any real ones do, which a hostile file's would do again and again.
  void check_growth(size_t bytes) const;

  // Replaces the whole text; `removed_at_start` old characters have no successor.
  void transform(std::span<const CharacterChange> changes, size_t removed_at_start);
  void prepend(std::string_view prefix);
  void replace(std::span<const Match> matches, std::string_view content);
  void strip(size_t leading_characters, size_t trailing_characters);

  template <typename Keep>
  void filter(Keep keep) {
    if (can_be_edited_in_place() && std::all_of(text_.begin(), text_.end(), keep)) return;
    std::vector<CharacterChange> changes;
    changes.reserve(text_.size());
    int32_t removed = 0;
    size_t removed_at_start = 0;
    for (size_t position = 0; position < text_.size();) {
      const char32_t character = next_character(text_, position);
      if (!keep(character)) {
        ++removed;
        continue;
      }
      if (changes.empty()) {
        removed_at_start = static_cast<size_t>(removed);
      } else {
        changes.back().change = -removed;
      }
      changes.push_back({character, 0});
      removed = 0;
    }
    if (!changes.empty()) changes.back().change = -removed;
    transform(changes, removed_at_start);
  }

  // `function` makes ASCII of ASCII.
  template <typename Function>
  void map(Function function) {
    if (can_be_edited_in_place()) {
      for (char& c : text_) c = static_cast<char>(function(static_cast<char32_t>(c)));
      return;
    }
    std::vector<CharacterChange> changes;
    changes.reserve(text_.size());
    for (size_t position = 0; position < text_.size();) {
      changes.push_back({function(next_character(text_, position)), 0});
    }
    transform(changes, 0);
  }

 private:
  AlignedText() = default;
  // ASCII for ASCII leaves every alignment as it is; a start that came from nowhere is a case of
  // its own.
  bool can_be_edited_in_place() const {
    return !text_.empty() && alignment_[0].begin != alignment_[0].end && is_ascii(text_);
  }
  void transform_range(Span range, std::span<const CharacterChange> changes,
                       size_t removed_at_start);
  Span aligned_before(size_t position) const;

  std::string text_;
  std::vector<Span> alignment_;  // one per byte of text_
  Span original_;                // the part of the original text this one stands for
};

}  // namespace whyformer::tokenization
