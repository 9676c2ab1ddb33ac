#include "readers/tokenizers/charsmap.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "readers/tokenizers/graphemes.h"
#include "whyformer/error.h"

namespace whyformer::tokenization {
namespace {

// The layout of Darts-clone, which SentencePiece stores.
bool has_leaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t leaf_value(uint32_t unit) { return unit & 0x7FFFFFFF; }
uint32_t label(uint32_t unit) { return unit & (1u << 31 | 0xFF); }
uint32_t child_offset(uint32_t unit) { return (unit >> 10) << ((unit & 1u << 9) >> 6); }

void add_replacement(std::vector<CharacterChange>& changes, std::string_view old_part,
                     std::string_view new_part) {
  for (size_t position = 0; position < new_part.size();) {
    changes.push_back({next_character(new_part, position), 0});
  }
  const int64_t difference = count_characters(new_part) - count_characters(old_part);
  for (int64_t i = 0; i < difference; ++i)
    changes[changes.size() - 1 - static_cast<size_t>(i)].change = 1;
  // Characters that vanish at the very start are not told to the alignment; the package does the
  // same.
  if (difference < 0 && !changes.empty()) changes.back().change += static_cast<int32_t>(difference);
}

}  // namespace

Charsmap::Charsmap(std::string_view blob, std::string_view file) {
  uint32_t trie_bytes = 0;
  if (blob.size() >= sizeof(trie_bytes)) std::memcpy(&trie_bytes, blob.data(), sizeof(trie_bytes));
  if (blob.size() < sizeof(trie_bytes) || trie_bytes > blob.size() - sizeof(trie_bytes)) {
    throw FileError(fmt::format(
        "'{}': the precompiled character map is cut off; download the file again", file));
  }
  trie_.resize(trie_bytes / sizeof(uint32_t));
  if (!trie_.empty())
    std::memcpy(trie_.data(), blob.data() + sizeof(trie_bytes), trie_.size() * sizeof(uint32_t));
  normalized_ = blob.substr(sizeof(trie_bytes) + trie_.size() * sizeof(uint32_t));
  if (!is_well_formed_utf8(normalized_)) {
    throw FileError(fmt::format(
        "'{}': the precompiled character map is not UTF-8; download the file again", file));
  }
}

// The normal form of the *shortest* prefix of `key` that has one: odd, but what the package does.
std::optional<std::string_view> Charsmap::lookup(std::string_view key) const {
  if (trie_.empty()) return std::nullopt;
  size_t node = child_offset(trie_[0]);
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) return std::nullopt;
    node ^= byte;
    if (node >= trie_.size() || label(trie_[node]) != byte) return std::nullopt;
    const uint32_t unit = trie_[node];
    node ^= child_offset(unit);
    if (!has_leaf(unit)) continue;
    if (node >= trie_.size()) return std::nullopt;
    const uint32_t begin = leaf_value(trie_[node]);
    if (begin > normalized_.size()) return std::nullopt;
    const size_t end = std::min(normalized_.find('\0', begin), normalized_.size());
    const std::string_view found = std::string_view(normalized_).substr(begin, end - begin);
    const bool inside_character =
        !found.empty() && (static_cast<unsigned char>(found[0]) & 0xC0) == 0x80;
    return inside_character ? std::nullopt : std::optional(found);
  }
  return std::nullopt;
}

void Charsmap::apply(AlignedText& aligned) const {
  constexpr size_t kLongestCluster = 5;
  const std::string& text = aligned.text();
  std::vector<CharacterChange> changes;
  changes.reserve(text.size());
  bool modified = false;
  const auto replace = [&](std::string_view old_part, std::string_view new_part) {
    aligned.check_growth(changes.size() + new_part.size());
    add_replacement(changes, old_part, new_part);
    modified = true;
  };
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = grapheme_end(text, begin);
    const std::string_view cluster = std::string_view(text).substr(begin, end - begin);
    begin = end;
    if (cluster.size() <= kLongestCluster) {
      if (const auto normal = lookup(cluster)) {
        replace(cluster, *normal);
        continue;
      }
    }
    for (size_t position = 0; position < cluster.size();) {
      const size_t start = position;
      const char32_t character = next_character(cluster, position);
      const std::string_view part = cluster.substr(start, position - start);
      if (const auto normal = lookup(part)) {
        replace(part, *normal);
      } else {
        changes.push_back({character, 0});
      }
    }
  }
  if (modified) aligned.transform(changes, 0);
}

std::string decode_base64(std::string_view text, std::string_view file) {
  static constexpr auto kValues = [] {
    std::array<int8_t, 256> values{};
    values.fill(-1);
    constexpr std::string_view kAlphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < kAlphabet.size(); ++i)
      values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int8_t>(i);
    return values;
  }();
  const auto fail = [&] {
    return FileError(fmt::format(
        "'{}': the precompiled character map is not base64; download the file again", file));
  };
  if (text.size() % 4 != 0) throw fail();
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) throw fail();
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int available = 0;
  for (const char c : text) {
    const int8_t value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) throw fail();
    bits = bits << 6 | static_cast<uint32_t>(value);
    available += 6;
    if (available >= 8) {
      available -= 8;
      bytes.push_back(static_cast<char>(bits >> available & 0xFF));
    }
  }
  return bytes;
}

}  // namespace whyformer::tokenization
