#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <queue>

#include "readers/tokenizers/characters.h"
#include "readers/tokenizers/token_model.h"
#include "whyformer/error.h"

namespace whyformer::tokenization {
namespace {

struct Merge {
  uint32_t rank;  // the lowest is merged first
  int32_t id;     // what the pair becomes
};

// Pairs of ids to merges: open addressing, since a lookup is made for every pair of neighbours.
class MergeTable {
 public:
  explicit MergeTable(size_t merges) {
    size_t slots = 64;
    while (slots < merges * 2) slots *= 2;
    slots_.resize(slots);
  }

  void set(int32_t left, int32_t right, Merge merge) {
    Slot& slot = slots_[index_of(key_of(left, right))];
    slot = {key_of(left, right), merge};
  }

  const Merge* find(int32_t left, int32_t right) const {
    const Slot& slot = slots_[index_of(key_of(left, right))];
    return slot.key == kFree ? nullptr : &slot.merge;
  }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};  // no pair: ids are not negative
  struct Slot {
    uint64_t key = kFree;
    Merge merge{};
  };

  static uint64_t key_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t index_of(uint64_t key) const {
    size_t index = (key * 0x9E3779B97F4A7C15 >> 20) & (slots_.size() - 1);
    while (slots_[index].key != kFree && slots_[index].key != key)
      index = (index + 1) & (slots_.size() - 1);
    return index;
  }

  std::vector<Slot> slots_;
};

// A token in the making, in a doubly linked list; length 0 once it was merged into its neighbour.
struct Symbol {
  int32_t id;
  int32_t previous, next;
  uint32_t length;
};

struct MergeCandidate {
  uint32_t rank;
  int32_t position;
  int32_t id;
  bool operator>(const MergeCandidate& other) const {
    return rank != other.rank ? rank > other.rank : position > other.position;
  }
};

class Word {
 public:
  void add(int64_t id, size_t length) {
    const auto position = static_cast<int32_t>(symbols_.size());
    if (position > 0) symbols_.back().next = position;
    symbols_.push_back({static_cast<int32_t>(id), position - 1, -1, static_cast<uint32_t>(length)});
  }

  // Merges the most urgent pair until none is left; a heap keeps this O(n log n) for a word of n
  // characters.
  void merge_all(const MergeTable& merges) {
    for (size_t i = 0; i + 1 < symbols_.size(); ++i) offer(merges, static_cast<int32_t>(i));
    while (!queue_.empty()) {
      const MergeCandidate top = queue_.top();
      queue_.pop();
      Symbol& left = symbols_[static_cast<size_t>(top.position)];
      if (left.length == 0 || left.next < 0) continue;
      Symbol& right = symbols_[static_cast<size_t>(left.next)];
      const Merge* merge = merges.find(left.id, right.id);
      if (merge == nullptr || merge->id != top.id) continue;  // a neighbour has changed since
      left.id = top.id;
      left.length += right.length;
      left.next = right.next;
      right.length = 0;
      if (left.next >= 0) symbols_[static_cast<size_t>(left.next)].previous = top.position;
      if (left.previous >= 0) offer(merges, left.previous);
      if (left.next >= 0) offer(merges, top.position);
    }
  }

  void append_to(std::vector<ModelToken>& tokens) const {
    uint32_t begin = 0;
    for (const Symbol& symbol : symbols_) {
      if (symbol.length == 0) continue;
      tokens.push_back({symbol.id, begin, begin + symbol.length});
      begin += symbol.length;
    }
  }

 private:
  void offer(const MergeTable& merges, int32_t position) {
    const Symbol& left = symbols_[static_cast<size_t>(position)];
    const Symbol& right = symbols_[static_cast<size_t>(left.next)];
    if (const Merge* merge = merges.find(left.id, right.id))
      queue_.push({merge->rank, position, merge->id});
  }

  std::vector<Symbol> symbols_;
  std::priority_queue<MergeCandidate, std::vector<MergeCandidate>, std::greater<>> queue_;
};

MergeTable read_merges(const Vocabulary& vocabulary, const StringPool& merges, size_t prefix,
                       std::string_view file) {
  MergeTable table(merges.size() / 2);
  const auto id_of = [&](std::string_view token) {
    const auto id = vocabulary.find(token);
    if (!id) {
      throw FileError(
          fmt::format("'{}': a merge uses '{}', which is not in the vocabulary; "
                      "the merges belong to another vocabulary",
                      file, token));
    }
    return static_cast<int32_t>(*id);
  };
  std::string merged;
  for (size_t i = 0; i + 1 < merges.size(); i += 2) {
    const std::string_view left = merges[i], right = merges[i + 1];
    if (right.size() < prefix)
      throw FileError(fmt::format("'{}': merge {} is shorter than its prefix", file, i / 2));
    const int32_t left_id = id_of(left), right_id = id_of(right);
    merged.assign(left).append(right.substr(prefix));
    table.set(left_id, right_id, {static_cast<uint32_t>(i / 2), id_of(merged)});
  }
  return table;
}

class Bpe final : public TokenModel {
 public:
  Bpe(Vocabulary vocabulary, const StringPool& merges, BpeOptions options, std::string_view file)
      : TokenModel(std::move(vocabulary)),
        options_(std::move(options)),
        merges_(read_merges(this->vocabulary(), merges, options_.continuing_subword_prefix.size(),
                            file)) {
    if (options_.unk_token) unknown_ = this->vocabulary().find(*options_.unk_token);
    for (int byte = 0; byte < 256 && options_.byte_fallback; ++byte) {
      byte_ids_[static_cast<size_t>(byte)] =
          this->vocabulary().find(fmt::format("<0x{:02X}>", byte));
    }
  }

  void tokenize(std::string_view text, std::vector<ModelToken>& tokens) const override {
    if (text.empty()) return;
    if (options_.ignore_merges) {
      if (const auto id = vocabulary().find(text)) {
        tokens.push_back({*id, 0, static_cast<uint32_t>(text.size())});
        return;
      }
    }
    Word word = characters_of(text);
    word.merge_all(merges_);
    word.append_to(tokens);
  }

  std::optional<int64_t> unknown_id() const override { return unknown_; }

 private:
  Word characters_of(std::string_view text) const {
    Word word;
    size_t unknown_length = 0;  // bytes of unknown characters not added yet
    const auto add_unknown = [&] {
      if (unknown_length > 0) word.add(*unknown_, unknown_length);
      unknown_length = 0;
    };
    std::string decorated;
    for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = begin + utf8_length(static_cast<unsigned char>(text[begin]));
      std::string_view character = text.substr(begin, end - begin);
      if (begin > 0 || end == text.size())
        character = decorate(character, begin > 0, end == text.size(), decorated);
      if (const auto id = vocabulary().find(character)) {
        add_unknown();
        word.add(*id, end - begin);
      } else if (!options_.byte_fallback || !add_bytes(character, word)) {
        if (!options_.unk_token) continue;
        require_unknown_token();
        if (!options_.fuse_unk) add_unknown();
        unknown_length += end - begin;
      }
    }
    add_unknown();
    return word;
  }

  std::string_view decorate(std::string_view character, bool continues, bool ends,
                            std::string& buffer) const {
    const bool prefixed = continues && !options_.continuing_subword_prefix.empty();
    const bool suffixed = ends && !options_.end_of_word_suffix.empty();
    if (!prefixed && !suffixed) return character;
    buffer.clear();
    if (prefixed) buffer += options_.continuing_subword_prefix;
    buffer += character;
    if (suffixed) buffer += options_.end_of_word_suffix;
    return buffer;
  }

  bool add_bytes(std::string_view character, Word& word) const {
    const auto id_of = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
    if (!std::all_of(character.begin(), character.end(),
                     [&](char byte) { return id_of(byte).has_value(); }))
      return false;
    for (const char byte : character) word.add(*id_of(byte), 1);
    return true;
  }

  void require_unknown_token() const {
    if (unknown_) return;
    throw InvalidInput(fmt::format(
        "the text has a character that is not in the vocabulary, and neither is the unknown "
        "token '{}'; add it to the vocabulary or change the text",
        *options_.unk_token));
  }

  BpeOptions options_;
  MergeTable merges_;
  std::optional<int64_t> unknown_;
  std::array<std::optional<int64_t>, 256> byte_ids_;
};

}  // namespace

std::unique_ptr<const TokenModel> bpe_model(Vocabulary vocabulary, const StringPool& merges,
                                            BpeOptions options, std::string_view file) {
  return std::make_unique<Bpe>(std::move(vocabulary), merges, std::move(options), file);
}

}  // namespace whyformer::tokenization
