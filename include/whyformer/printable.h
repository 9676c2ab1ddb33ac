// Texts for people: those from files made harmless before they are shown, and numbers of things.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace whyformer {

// The text with everything that would steer a terminal, break its line or reorder it (control
// characters, escapes, bidirectional and invisible formatting) spelled out, as in "\x1b" or
// "\u{202e}", and invalid UTF-8 as U+FFFD. The library's own reports have it already; errors and
// structures hold texts as the files have them.
std::string printable(std::string_view text);

// The same JSON, with such characters inside its strings written as \uXXXX: a program that reads it
// sees no difference.
std::string printable_json(std::string_view json);

// "1 input", "3 inputs".
std::string quantity(int64_t count, std::string_view noun);

}  // namespace whyformer
