// Edits as JSON, replayed to the last bit: doubles are written so that they are read again.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tensor/tensor.h"
#include "whyformer/edits.h"
#include "whyformer/error.h"

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
    json["array"] = {{"shape", edit.array.shape}, {"numbers", *edit.array.values}};
  } else if (number) {
    json["number"] = edit.number;
  }
  if (!edit.source.empty()) json["source"] = edit.source;
  if (!edit.axis.empty()) json["axis"] = edit.axis;
  if (edit.op == EditOp::kNoise || edit.op == EditOp::kPermute) json["seed"] = edit.seed;
  return json;
}

EditArray array_in(const Json& json) {
  EditArray array{
      json.at("shape").get<std::vector<int64_t>>(),
      std::make_shared<const std::vector<double>>(json.at("numbers").get<std::vector<double>>())};
  int64_t count = 1;
  const auto most = static_cast<int64_t>(array.values->size());
  for (const int64_t length : array.shape) {
    if (length < 0 || (length > 0 && count > most / length))
      fail_json("an array has no such shape");
    count *= length;
  }
  if (count != most) fail_json("an array has not the numbers of its shape");
  return array;
}

Edit edit_in(const Json& json) {
  if (!json.is_object()) fail_json("one of them is no object");
  Edit edit;
  for (const auto& [key, value] : json.items()) {
    if (key == "op") {
      const auto op = std::ranges::find(kJsonOps, value.get<std::string>());
      if (op == kJsonOps.end()) fail_json(fmt::format("there is no op '{}'", value.dump()));
      edit.op = static_cast<EditOp>(op - kJsonOps.begin());
    } else if (key == "value") {
      edit.value = value.get<std::string>();
    } else if (key == "at") {
      edit.at = value.get<EditPlaces>();
    } else if (key == "number") {
      edit.number = value.get<double>();
    } else if (key == "array") {
      edit.array = array_in(value);
    } else if (key == "source") {
      edit.source = value.get<std::string>();
    } else if (key == "axis") {
      edit.axis = value.get<std::string>();
    } else if (key == "seed") {
      edit.seed = value.get<int64_t>();
    } else {
      fail_json(fmt::format("'{}' is not known", key));
    }
  }
  if (!json.contains("op") || edit.value.empty()) fail_json("one has no op or no value");
  return edit;
}

}  // namespace

std::string edits_to_json(const std::vector<Edit>& edits, int indent) {
  Json json = Json::array();
  for (const Edit& edit : edits) json.push_back(json_of_edit(edit));
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::vector<Edit> edits_from_json(std::string_view text) {
  std::vector<Edit> edits;
  try {
    const Json json = Json::parse(text);
    if (!json.is_array()) fail_json("there is no list");
    for (const Json& one : json) edits.push_back(edit_in(one));
  } catch (const nlohmann::json::exception& error) {
    fail_json(error.what());
  }
  return edits;
}

}  // namespace whyformer
