// Token strings and their ids, packed: one block of bytes, one open-addressing table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whyformer::tokenization {

// Many short strings in one block.
class StringPool {
 public:
  void add(std::string_view text);
  std::string_view operator[](size_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(bytes_).substr(begin, ends_[index] - begin);
  }
  size_t size() const { return ends_.size(); }
  void clear();
  void reserve(size_t strings, size_t bytes);

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

class Vocabulary {
 public:
  void reserve(size_t tokens, size_t bytes);
  void set(std::string_view token, int64_t id);  // a token given twice keeps the last id
  void append(
      std::string_view token);  // its id is its position; a repeated token is found at its last one
  void seal();                  // after the last token, before token_of

  std::optional<int64_t> find(std::string_view token) const;
  std::optional<std::string_view> token_of(int64_t id) const;
  size_t size() const { return strings_.size(); }
  size_t longest_token() const { return longest_token_; }  // bytes
  const std::vector<size_t>& token_lengths() const {
    return lengths_;
  }  // bytes, each that occurs once, the longest first

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t entry = 0;  // 1 + index in strings_; 0 = free
  };
  Slot& slot_for(std::string_view token, uint32_t hash);
  void grow(size_t slots);
  void add_entry(std::string_view token, int64_t id, Slot& slot, uint32_t hash);

  StringPool strings_;
  std::vector<int32_t> ids_;  // by index in strings_
  std::vector<Slot> slots_;   // a power of two
  std::vector<uint32_t>
      by_id_;  // indices ordered by id; empty if the order is that of strings_ already
  size_t longest_token_ = 0;
  std::vector<size_t> lengths_;
};

}  // namespace whyformer::tokenization
