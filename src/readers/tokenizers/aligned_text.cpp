#include "readers/tokenizers/aligned_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "whyformer/error.h"

namespace whyformer::tokenization {

AlignedText::AlignedText(std::string_view original)
    : text_(original), original_{0, static_cast<uint32_t>(original.size())} {
  alignment_.reserve(text_.size());
  for (size_t position = 0; position < text_.size();) {
    const size_t length = utf8_length(static_cast<unsigned char>(text_[position]));
    const Span span{static_cast<uint32_t>(position), static_cast<uint32_t>(position + length)};
    alignment_.insert(alignment_.end(), length, span);
    position += length;
  }
}

std::optional<Span> AlignedText::original(size_t begin, size_t end) const {
  if (begin == end) {
    return Span{original_.begin + static_cast<uint32_t>(begin),
                original_.begin + static_cast<uint32_t>(end)};
  }
  if (begin > end || end > alignment_.size()) return std::nullopt;
  return Span{alignment_[begin].begin, alignment_[end - 1].end};
}

AlignedText AlignedText::slice(size_t begin, size_t end) const {
  AlignedText part;
  part.text_.assign(text_, begin, end - begin);
  part.alignment_.assign(alignment_.begin() + static_cast<std::ptrdiff_t>(begin),
                         alignment_.begin() + static_cast<std::ptrdiff_t>(end));
  part.original_ = original(begin, end).value_or(original_);
  return part;
}

void AlignedText::check_growth(size_t bytes) const {
  const size_t original = original_.end - original_.begin;
  if (bytes <= most_bytes_made_of(original)) return;
  throw UnsupportedModel(
      fmt::format("the tokenizer makes {} bytes and more of {} bytes of text, which no sound "
                  "tokenizer does: look at the rules of its "
                  "normalizers and pre-tokenizers, or use the model's own tokenizer",
                  bytes, original));
}

// The place of the byte before `position`; nowhere at all at the very start.
Span AlignedText::aligned_before(size_t position) const {
  if (position == 0 || alignment_.empty()) return {original_.begin, original_.begin};
  return alignment_[std::min(position, alignment_.size()) - 1];
}

void AlignedText::transform(std::span<const CharacterChange> changes, size_t removed_at_start) {
  if (alignment_.empty() && original_.begin != original_.end) return;
  // The package aims at the whole *original*, which leaves out characters that came from nowhere at
  // the start.
  size_t begin = 0;
  if (original_.begin != original_.end) {
    while (begin < alignment_.size() && alignment_[begin].begin == alignment_[begin].end) ++begin;
  }
  const size_t end = original_.begin == original_.end ? 0 : alignment_.size();
  transform_range({static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}, changes,
                  removed_at_start);
}

void AlignedText::transform_range(Span range, std::span<const CharacterChange> changes,
                                  size_t removed_at_start) {
  size_t old = range.begin;  // next character of the old text
  const auto skip = [&] {
    if (old >= range.end) return;
    old += utf8_length(static_cast<unsigned char>(text_[old]));
  };
  for (size_t i = 0; i < removed_at_start; ++i) skip();

  size_t new_size = text_.size() - (range.end - range.begin);
  for (const CharacterChange& change : changes) new_size += utf8_length_of(change.character);
  check_growth(new_size);
  std::string text(text_, 0, range.begin);
  text.reserve(new_size);
  std::vector<Span> alignment(new_size);
  std::copy(alignment_.begin(), alignment_.begin() + range.begin, alignment.begin());
  for (const CharacterChange& change : changes) {
    const bool inserted = change.change > 0;
    const Span place = inserted || old >= alignment_.size() ? aligned_before(old) : alignment_[old];
    if (!inserted) skip();
    for (int32_t removed = change.change; removed < 0; ++removed) skip();
    const size_t begin = text.size();
    append_utf8(text, change.character);
    for (size_t i = begin; i < text.size(); ++i) alignment[i] = place;
  }
  std::copy(alignment_.begin() + range.end, alignment_.end(),
            alignment.begin() + static_cast<std::ptrdiff_t>(text.size()));
  text.append(text_, range.end);
  text_ = std::move(text);
  alignment_ = std::move(alignment);
}

void AlignedText::prepend(std::string_view prefix) {
  if (text_.empty()) return;
  std::vector<CharacterChange> changes;
  for (size_t position = 0; position < prefix.size();) {
    const int32_t change = position == 0 ? 0 : 1;
    changes.push_back({next_character(prefix, position), change});
  }
  size_t first_length = 0;
  const char32_t first = next_character(text_, first_length);
  changes.push_back({first, 1});
  transform_range({0, static_cast<uint32_t>(first_length)}, changes, 0);
}

void AlignedText::replace(std::span<const Match> matches, std::string_view content) {
  size_t new_size = 0;
  for (const Match& match : matches) {
    new_size += match.matched ? content.size() : match.end - match.begin;
    check_growth(new_size);
  }
  std::string text;
  std::vector<Span> alignment;
  text.reserve(new_size);
  alignment.reserve(new_size);
  for (const Match& match : matches) {
    if (match.matched) {
      text.append(content);
      alignment.insert(alignment.end(), content.size(), aligned_before(match.end));
    } else {
      text.append(text_, match.begin, match.end - match.begin);
      alignment.insert(alignment.end(),
                       alignment_.begin() + static_cast<std::ptrdiff_t>(match.begin),
                       alignment_.begin() + static_cast<std::ptrdiff_t>(match.end));
    }
  }
  text_ = std::move(text);
  alignment_ = std::move(alignment);
}

void AlignedText::strip(size_t leading_characters, size_t trailing_characters) {
  if (leading_characters == 0 && trailing_characters == 0) return;
  const auto count = static_cast<size_t>(count_characters(text_));
  std::vector<CharacterChange> changes;
  size_t index = 0;
  for (size_t position = 0; position < text_.size(); ++index) {
    const char32_t character = next_character(text_, position);
    if (index >= leading_characters && index + trailing_characters < count)
      changes.push_back({character, 0});
  }
  transform(changes, leading_characters);
}

}  // namespace whyformer::tokenization
