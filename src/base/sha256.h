// SHA-256 (FIPS 180-4), for names that depend on content alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace whyformer {

class Sha256 {
 public:
  void add(std::span<const std::byte> bytes);
  // A text with its length in front, so that neighbouring texts cannot be cut elsewhere.
  void add_text(std::string_view text);
  // 64 hexadecimal digits of everything that was added; nothing can be added afterwards.
  std::string digest();

 private:
  void add_block(const std::byte* block);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> rest_{};
  uint64_t length_ = 0;  // bytes
};

}  // namespace whyformer
