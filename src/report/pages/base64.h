#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whyformer::report {

std::string base64(std::span<const uint8_t> bytes);

// The bytes that hexadecimal digits spell, two each.
std::vector<uint8_t> bytes_of_hex(std::string_view digits);

}  // namespace whyformer::report
