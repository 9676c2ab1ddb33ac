#include "readers/tokenizers/vocabulary.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace whyformer::tokenization {
namespace {

__extension__ using Wide = unsigned __int128;

uint32_t hash_of(std::string_view text) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  uint64_t hash = text.size() * kMultiplier;
  const auto mix = [&](uint64_t word) {
    const auto product = static_cast<Wide>(hash ^ word) * kMultiplier;
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  size_t position = 0;
  uint64_t word = 0;
  for (; position + 8 <= text.size(); position += 8) {
    std::memcpy(&word, text.data() + position, 8);
    mix(word);
  }
  word = 0;
  if (position < text.size()) std::memcpy(&word, text.data() + position, text.size() - position);
  mix(word + 1);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

}  // namespace

void StringPool::add(std::string_view text) {
  bytes_.append(text);
  ends_.push_back(bytes_.size());
}

void StringPool::clear() {
  bytes_.clear();
  ends_.clear();
}

void StringPool::reserve(size_t strings, size_t bytes) {
  bytes_.reserve(bytes);
  ends_.reserve(strings);
}

void Vocabulary::reserve(size_t tokens, size_t bytes) {
  strings_.reserve(tokens, bytes);
  ids_.reserve(tokens);
  size_t slots = 64;
  while (slots < tokens * 2) slots *= 2;
  if (slots > slots_.size()) grow(slots);
}

void Vocabulary::grow(size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.entry == 0) continue;
    size_t index = slot.hash & (slots_.size() - 1);
    while (slots_[index].entry != 0) index = (index + 1) & (slots_.size() - 1);
    slots_[index] = slot;
  }
}

Vocabulary::Slot& Vocabulary::slot_for(std::string_view token, uint32_t hash) {
  if (slots_.size() < 2 * (strings_.size() + 1)) grow(std::max<size_t>(64, slots_.size() * 2));
  size_t index = hash & (slots_.size() - 1);
  while (slots_[index].entry != 0) {
    const Slot& slot = slots_[index];
    if (slot.hash == hash && strings_[slot.entry - 1] == token) break;
    index = (index + 1) & (slots_.size() - 1);
  }
  return slots_[index];
}

void Vocabulary::add_entry(std::string_view token, int64_t id, Slot& slot, uint32_t hash) {
  strings_.add(token);
  ids_.push_back(static_cast<int32_t>(id));
  longest_token_ = std::max(longest_token_, token.size());
  slot = {hash, static_cast<uint32_t>(strings_.size())};
}

void Vocabulary::set(std::string_view token, int64_t id) {
  const uint32_t hash = hash_of(token);
  Slot& slot = slot_for(token, hash);
  if (slot.entry != 0) {
    ids_[slot.entry - 1] = static_cast<int32_t>(id);
  } else {
    add_entry(token, id, slot, hash);
  }
}

void Vocabulary::append(std::string_view token) {
  const uint32_t hash = hash_of(token);
  Slot& slot = slot_for(token, hash);
  add_entry(token, static_cast<int64_t>(strings_.size()), slot, hash);
}

void Vocabulary::seal() {
  std::vector<bool> occurs(longest_token_ + 1);
  for (size_t i = 0; i < strings_.size(); ++i) occurs[strings_[i].size()] = true;
  lengths_.clear();
  for (size_t length = longest_token_ + 1; length-- > 0;) {
    if (occurs[length]) lengths_.push_back(length);
  }
  by_id_.clear();
  if (std::is_sorted(ids_.begin(), ids_.end())) return;
  by_id_.resize(ids_.size());
  std::iota(by_id_.begin(), by_id_.end(), 0u);
  std::stable_sort(by_id_.begin(), by_id_.end(),
                   [&](uint32_t a, uint32_t b) { return ids_[a] < ids_[b]; });
}

std::optional<int64_t> Vocabulary::find(std::string_view token) const {
  if (slots_.empty()) return std::nullopt;
  const uint32_t hash = hash_of(token);
  for (size_t index = hash & (slots_.size() - 1); slots_[index].entry != 0;
       index = (index + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[index];
    if (slot.hash == hash && strings_[slot.entry - 1] == token) return ids_[slot.entry - 1];
  }
  return std::nullopt;
}

std::optional<std::string_view> Vocabulary::token_of(int64_t id) const {
  const auto entry = [&](size_t rank) { return by_id_.empty() ? rank : by_id_[rank]; };
  // In a vocabulary without gaps the id is the rank.
  if (id >= 0 && static_cast<size_t>(id) < ids_.size() &&
      ids_[entry(static_cast<size_t>(id))] == id) {
    return strings_[entry(static_cast<size_t>(id))];
  }
  size_t low = 0, high = ids_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (ids_[entry(middle)] < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == ids_.size() || ids_[entry(low)] != id) return std::nullopt;
  return strings_[entry(low)];
}

}  // namespace whyformer::tokenization
