#include "formats/tables/spec_fields.h"

#include <fmt/format.h>

#include <cmath>

#include "formats/file_checks.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;

std::string shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  return value.dump();
}

std::string must_be(std::string_view key, std::string_view expected, const Json& came) {
  return fmt::format("'{}' must be {} but is {}", key, expected, shown(came));
}

std::string whole_between(int64_t least, int64_t most) {
  return fmt::format("a whole number from {} to {}", least, most);
}

bool is_whole(const Json& value, int64_t least, int64_t most) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return false;
  }
  return value.get<int64_t>() >= least && value.get<int64_t>() <= most;
}

}  // namespace

SpecFields::SpecFields(const Json& json, std::string place)
    : json_(json), place_(std::move(place)) {
  if (!json.is_object()) {
    throw FileError(fmt::format("{}: expected an object, not {}", place_, shown(json)));
  }
}

void SpecFields::fail(const std::string& problem) const {
  throw FileError(fmt::format("{}: {}", place_, problem));
}

const Json* SpecFields::find(std::string_view key) const {
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<SpecFields> SpecFields::object(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  return SpecFields(*value, fmt::format("{}, '{}'", place_, key));
}

std::string SpecFields::text(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) fail(fmt::format("'{}' is missing", key));
  if (!value->is_string()) fail(must_be(key, "a text", *value));
  return value->get<std::string>();
}

std::string SpecFields::text_or(std::string_view key, std::string fallback) const {
  return find(key) == nullptr ? std::move(fallback) : text(key);
}

bool SpecFields::flag_or(std::string_view key, bool fallback) const {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) fail(must_be(key, "true or false", *value));
  return value->get<bool>();
}

double SpecFields::number(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) fail(fmt::format("'{}' is missing", key));
  if (!value->is_number()) fail(must_be(key, "a number", *value));
  return value->get<double>();
}

double SpecFields::number_or(std::string_view key, double fallback) const {
  return find(key) == nullptr ? fallback : number(key);
}

double SpecFields::positive(std::string_view key) const {
  const double value = number(key);
  if (!(value > 0)) fail(fmt::format("'{}' must be above 0 but is {}", key, value));
  return value;
}

double SpecFields::divisor_or(std::string_view key, double fallback) const {
  const double value = number_or(key, fallback);
  if (value == 0) fail(fmt::format("'{}' must not be 0", key));
  return value;
}

int64_t SpecFields::whole(std::string_view key, int64_t least, int64_t most) const {
  const Json* value = find(key);
  if (value == nullptr) fail(fmt::format("'{}' is missing", key));
  if (!is_whole(*value, least, most)) fail(must_be(key, whole_between(least, most), *value));
  return value->get<int64_t>();
}

std::string SpecFields::file_name_or_none(std::string_view key) const {
  if (find(key) == nullptr) return {};
  const std::string name = text(key);
  const bool plain = !name.empty() && name != "." && name != ".." &&
                     name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (!plain) {
    fail(fmt::format("'{}' must name a file of the same folder, not {}", key, in_quotes(name)));
  }
  return name;
}

std::vector<std::string> SpecFields::texts(std::string_view key) const {
  if (find(key) == nullptr) return {};
  const Json& values = list(key);
  std::vector<std::string> result;
  result.reserve(values.size());
  for (const Json& value : values) {
    if (!value.is_string()) fail(must_be(key, "a list of texts", value));
    result.push_back(value.get<std::string>());
  }
  return result;
}

std::vector<double> SpecFields::numbers(std::string_view key) const {
  if (find(key) == nullptr) return {};
  const Json& values = list(key);
  std::vector<double> result;
  result.reserve(values.size());
  for (const Json& value : values) {
    if (!value.is_number()) fail(must_be(key, "a list of numbers", value));
    result.push_back(value.get<double>());
  }
  return result;
}

std::vector<int64_t> SpecFields::wholes(std::string_view key, int64_t least, int64_t most) const {
  if (find(key) == nullptr) return {};
  const Json& values = list(key);
  std::vector<int64_t> result;
  result.reserve(values.size());
  for (const Json& value : values) {
    if (!is_whole(value, least, most)) {
      fail(fmt::format("'{}' must list {}, but {} is there", key,
                       fmt::format("whole numbers from {} to {}", least, most), shown(value)));
    }
    result.push_back(value.get<int64_t>());
  }
  return result;
}

const Json& SpecFields::list(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) fail(fmt::format("'{}' is missing", key));
  if (!value->is_array()) fail(must_be(key, "a list", *value));
  return *value;
}

Json parse_spec_json(std::string_view text, std::string_view what) {
  constexpr size_t kLargest = 16'000'000;
  constexpr int kDeepest = 8;
  // A parsed value takes up to ten times the memory of its text.
  constexpr size_t kMostValues = 4'000'000;
  if (text.size() > kLargest) {
    throw FileError(fmt::format("{} is too large: it has {}, and at most {} are read",
                                in_quotes(what), size_text(text.size()), size_text(kLargest)));
  }
  size_t values = 0;
  const auto check = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest) throw FileError(fmt::format("{} nests too deeply", in_quotes(what)));
    if (++values > kMostValues)
      throw FileError(fmt::format("{} holds too many values", in_quotes(what)));
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::parse_error& error) {
    throw FileError(fmt::format("{} is not JSON: it goes wrong at byte {} of {}", in_quotes(what),
                                error.byte, text.size()));
  } catch (const Json::exception&) {
    throw FileError(fmt::format("{} holds a number that is out of range", in_quotes(what)));
  }
}

}  // namespace whyformer
