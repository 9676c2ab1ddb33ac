#include "report/pages/base64.h"

#include <algorithm>

namespace whyformer::report {

std::string base64(std::span<const uint8_t> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = static_cast<uint32_t>(bytes[i]) << 16;
    if (have > 1) group |= static_cast<uint32_t>(bytes[i + 1]) << 8;
    if (have > 2) group |= bytes[i + 2];
    for (size_t digit = 0; digit < 4; ++digit) {
      out += digit <= have ? kDigits[group >> (18 - 6 * digit) & 63] : '=';
    }
  }
  return out;
}

std::vector<uint8_t> bytes_of_hex(std::string_view digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(value(digits[i]) * 16 + value(digits[i + 1])));
  }
  return bytes;
}

}  // namespace whyformer::report
