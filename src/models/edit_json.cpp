// Edits as JSON, replayed to the last bit: doubles are written so that they are read again.
#include "models/edit_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "models/edit_fields.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 9> kJsonOps{"set",  "add",    "scale",   "zero", "mean",
                                              "copy", "freeze", "permute", "noise"};

[[noreturn]] void fail_json(const std::string& why) {
  throw InvalidInput(
      fmt::format("the edits are not what whyformer writes as JSON: {}; each is an object like "
                  "{{\"op\": \"zero\", \"value\": \"blocks.3.attention.context\", \"at\": "
                  "{{\"head\": [5]}}}}",
                  why));
}

Json json_of_edit(const Edit& edit) {
  Json json{{"op", kJsonOps[static_cast<size_t>(edit.op)]}, {"value", edit.value}};
  if (!edit.at.empty()) json["at"] = edit.at;
  const bool number = edit.op == EditOp::kSet || edit.op == EditOp::kAdd ||
                      edit.op == EditOp::kScale || edit.op == EditOp::kNoise;
  if (edit.array.given()) {
    json["array"] = json_of(edit.array);
  } else if (number) {
    json["number"] = edit.number;
  }
  if (!edit.source.empty()) json["source"] = edit.source;
  if (!edit.axis.empty()) json["axis"] = edit.axis;
  if (edit.op == EditOp::kNoise || edit.op == EditOp::kPermute) json["seed"] = edit.seed;
  return json;
}

// Of containers the kind alone: what is in them may be long, and deep.
std::string shown(const Json& json) {
  if (json.is_structured()) return json.is_array() ? "a list" : "an object";
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr size_t kLongest = 40;
  return text.size() > kLongest ? "a long text" : text;
}

// JSON has no word for these.
constexpr const char *kNotANumber = "NaN", *kInfinity = "Infinity", *kMinusInfinity = "-Infinity";

Json json_of_number(double number) {
  if (std::isnan(number)) return kNotANumber;
  if (std::isinf(number)) return number > 0 ? kInfinity : kMinusInfinity;
  return number;
}

double number_in(const Json& json) {
  if (json == kNotANumber) return std::numeric_limits<double>::quiet_NaN();
  if (json == kInfinity) return std::numeric_limits<double>::infinity();
  if (json == kMinusInfinity) return -std::numeric_limits<double>::infinity();
  if (!json.is_number()) throw InvalidInput(fmt::format("{} is no number", shown(json)));
  return json.get<double>();
}

Edit edit_in(const Json& json) {
  if (!json.is_object()) throw InvalidInput("one of them is no object");
  Edit edit;
  for (const auto& [key, value] : json.items()) {
    if (key == "op") {
      const auto op = std::ranges::find(kJsonOps, value.get<std::string>());
      if (op == kJsonOps.end())
        throw InvalidInput(fmt::format("there is no op '{}'", shown(value)));
      edit.op = static_cast<EditOp>(op - kJsonOps.begin());
    } else if (key == "value") {
      edit.value = value.get<std::string>();
    } else if (key == "at") {
      edit.at = places_in(value);
    } else if (key == "number") {
      edit.number = number_in(value);
    } else if (key == "array") {
      edit.array = edit_array_in(value);
    } else if (key == "source") {
      edit.source = value.get<std::string>();
    } else if (key == "axis") {
      edit.axis = value.get<std::string>();
    } else if (key == "seed") {
      edit.seed = integer_in(value);
    } else {
      throw InvalidInput(fmt::format("'{}' is not known", key));
    }
  }
  if (!json.contains("op") || edit.value.empty()) throw InvalidInput("one has no op or no value");
  const std::string fault = fault_of(edit, {.number = json.contains("number"),
                                            .array = json.contains("array"),
                                            .source = json.contains("source"),
                                            .axis = json.contains("axis"),
                                            .seed = json.contains("seed")});
  if (!fault.empty()) {
    throw InvalidInput(fmt::format("'{} {}' {}", kJsonOps[static_cast<size_t>(edit.op)],
                                   printable(edit.value), fault));
  }
  return edit;
}

}  // namespace

Json json_of(const EditArray& array) {
  Json numbers = Json::array();
  for (const double number : *array.values) numbers.push_back(json_of_number(number));
  return {{"shape", array.shape}, {"numbers", std::move(numbers)}};
}

int64_t integer_in(const Json& json) {
  const bool fits = json.is_number_integer() &&
                    (!json.is_number_unsigned() || json.get<uint64_t>() <= uint64_t{INT64_MAX});
  if (!fits) throw InvalidInput(fmt::format("{} is no whole number", shown(json)));
  return json.get<int64_t>();
}

std::vector<int64_t> integers_in(const Json& json) {
  if (!json.is_array()) throw InvalidInput(fmt::format("{} is no list", shown(json)));
  std::vector<int64_t> integers;
  for (const Json& one : json) integers.push_back(integer_in(one));
  return integers;
}

EditPlaces places_in(const Json& json) {
  if (!json.is_object()) throw InvalidInput(fmt::format("{} names no axes", shown(json)));
  EditPlaces places;
  for (const auto& [axis, indices] : json.items()) {
    places[axis] = integers_in(indices);
    if (places[axis].empty()) throw InvalidInput("an axis is named without places");
  }
  return places;
}

EditArray edit_array_in(const Json& json) {
  EditArray array{integers_in(json.at("shape")), {}};
  std::vector<double> numbers;
  for (const Json& number : json.at("numbers")) numbers.push_back(number_in(number));
  int64_t count = 1;
  const auto most = static_cast<int64_t>(numbers.size());
  for (const int64_t length : array.shape) {
    if (length < 0 || (length > 0 && count > most / length))
      throw InvalidInput("an array has no such shape");
    count *= length;
  }
  if (count != most) throw InvalidInput("an array has not the numbers of its shape");
  array.values = std::make_shared<const std::vector<double>>(std::move(numbers));
  return array;
}

std::string edits_to_json(const std::vector<Edit>& edits, int indent) {
  Json json = Json::array();
  for (const Edit& edit : edits) json.push_back(json_of_edit(edit));
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::vector<Edit> edits_in(const Json& json) {
  if (!json.is_array()) throw InvalidInput("there is no list");
  std::vector<Edit> edits;
  for (const Json& one : json) edits.push_back(edit_in(one));
  return edits;
}

std::vector<Edit> edits_from_json(std::string_view text) {
  try {
    return edits_in(Json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    fail_json(error.what());
  } catch (const InvalidInput& error) {
    fail_json(error.what());
  }
}

}  // namespace whyformer
