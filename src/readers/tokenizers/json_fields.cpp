#include "readers/tokenizers/json_fields.h"

namespace whyformer::tokenization {

JsonFields::JsonFields(const Json& object, std::string_view file, std::string_view what)
    : object_(object), file_(file), what_(what) {
  if (!object.is_object()) {
    throw FileError(
        fmt::format("'{}': {} should be an object but is {}", file, what, object.type_name()));
  }
}

const Json* JsonFields::find(std::string_view name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const Json& JsonFields::required(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) throw FileError(fmt::format("'{}': {} has no '{}'", file_, what_, name));
  return *value;
}

void JsonFields::fail(std::string_view name, std::string_view expected) const {
  throw FileError(fmt::format("'{}': '{}' of {} should be {} but is {}", file_, name, what_,
                              expected, required(name).type_name()));
}

std::string JsonFields::text(std::string_view name) const {
  const Json& value = required(name);
  if (!value.is_string()) fail(name, "a string");
  return value.get<std::string>();
}

std::string JsonFields::text_or(std::string_view name, std::string_view fallback) const {
  return find(name) == nullptr ? std::string(fallback) : text(name);
}

std::optional<std::string> JsonFields::optional_text(std::string_view name) const {
  if (find(name) == nullptr) return std::nullopt;
  return text(name);
}

bool JsonFields::flag_or(std::string_view name, bool fallback) const {
  return optional_flag(name).value_or(fallback);
}

std::optional<bool> JsonFields::optional_flag(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) fail(name, "true or false");
  return value->get<bool>();
}

int64_t JsonFields::number(std::string_view name) const {
  return checked_id(required(name), file_, fmt::format("'{}' of {}", name, what_));
}

const Json& JsonFields::list(std::string_view name) const {
  const Json& value = required(name);
  if (!value.is_array()) fail(name, "a list");
  return value;
}

int64_t checked_id(const Json& value, std::string_view file, std::string_view what) {
  if (value.is_number_integer()) {
    const bool fits =
        value.is_number_unsigned() ? value.get<uint64_t>() <= INT32_MAX : value.get<int64_t>() >= 0;
    if (fits) return value.get<int64_t>();
  }
  throw FileError(fmt::format("'{}': {} should be an integer from 0 to {}", file, what, INT32_MAX));
}

Json parse_json(std::string_view text, std::string_view file) {
  constexpr size_t kLargest = size_t{64} << 20;
  if (text.size() > kLargest)
    throw FileError(fmt::format("'{}' is too large for a configuration file", file));
  // Building a deep value is iterative but destroying it is not, so depth is checked while parsing.
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxJsonDepth;
    return !too_deep;
  };
  Json value = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (too_deep)
    throw FileError(fmt::format("'{}' is nested more than {} levels deep", file, kMaxJsonDepth));
  if (value.is_discarded())
    throw FileError(fmt::format("'{}' is not JSON; download the file again", file));
  return value;
}

}  // namespace whyformer::tokenization
