// Checked access to the fields of a JSON object from a file nobody has vouched for.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "whyformer/error.h"

namespace whyformer::tokenization {

using Json = nlohmann::json;

// Deeper nesting than this is refused before it can exhaust the stack.
constexpr int kMaxJsonDepth = 64;

// A JSON object, where it stands, and what its errors are called.
class JsonFields {
 public:
  // Throws FileError unless `object` is a JSON object. `what` is for messages: "the BPE model".
  JsonFields(const Json& object, std::string_view file, std::string_view what);

  std::string_view file() const { return file_; }
  const Json* find(std::string_view name) const;  // nothing if absent or null
  const Json& required(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::string text_or(std::string_view name, std::string_view fallback) const;
  std::optional<std::string> optional_text(std::string_view name) const;
  bool flag_or(std::string_view name, bool fallback) const;
  std::optional<bool> optional_flag(std::string_view name) const;
  int64_t number(std::string_view name) const;  // an integer in [0, 2^31)
  const Json& list(std::string_view name) const;
  [[noreturn]] void fail(std::string_view name, std::string_view expected) const;

 private:
  const Json& object_;
  std::string_view file_;
  std::string what_;
};

int64_t checked_id(const Json& value, std::string_view file, std::string_view what);

// Parses a small JSON file (a configuration) of bounded depth. Throws FileError.
Json parse_json(std::string_view text, std::string_view file);

}  // namespace whyformer::tokenization
