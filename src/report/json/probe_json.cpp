// Requests to a probe and what it recorded, as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/edit_json.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"
#include "whyformer/probe.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kRecordingSchema = "whyformer.recording/1";

Json json_of_read(const Read& read) {
  Json json{{"value", read.value}};
  if (!read.at.empty()) json["at"] = read.at;
  if (read.reduce != Reducer::kNone)
    json["reduce"] = kReducerNames[static_cast<size_t>(read.reduce)];
  if (!read.over.empty()) json["over"] = read.over;
  if (read.count != 0) json["count"] = read.count;
  if (read.with.given()) json["with"] = json_of(read.with);
  return json;
}

[[noreturn]] void fail_request(const std::string& why) {
  throw InvalidInput(fmt::format("the request is not what whyformer writes as JSON: {}", why));
}

Read read_of_json(const Json& json) {
  Read read{.value = json.at("value").get<std::string>()};
  for (const auto& [key, value] : json.items()) {
    if (key == "at") {
      read.at = places_in(value);
    } else if (key == "reduce") {
      const auto known = std::ranges::find(kReducerNames, value.get<std::string>());
      if (known == kReducerNames.end())
        throw InvalidInput("there is no reducer " + value.get<std::string>());
      read.reduce = static_cast<Reducer>(known - kReducerNames.begin());
    } else if (key == "over") {
      read.over = value.get<std::vector<std::string>>();
    } else if (key == "count") {
      read.count = integer_in(value);
    } else if (key == "with") {
      read.with = edit_array_in(value);
    } else if (key != "value") {
      throw InvalidInput(fmt::format("a read has no '{}'", key));
    }
  }
  return read;
}

Json target_json(const TargetChoice& target) {
  if (const auto* index = std::get_if<int64_t>(&target)) return *index;
  if (const auto* label = std::get_if<std::string>(&target)) return *label;
  if (const auto* element = std::get_if<OutputElement>(&target))
    return {{"output", element->output}, {"indices", element->indices}};
  return nullptr;
}

TargetChoice target_from(const Json& json) {
  if (json.is_number()) return integer_in(json);
  if (json.is_string()) return json.get<std::string>();
  if (json.is_null()) return {};
  return OutputElement{json.at("output").get<std::string>(), integers_in(json.at("indices"))};
}

ProbeRequest request_from(const Json& json) {
  ProbeRequest request;
  for (const auto& [key, value] : json.items()) {
    if (key == "reads") {
      for (const Json& read : value) request.reads.push_back(read_of_json(read));
    } else if (key == "edits") {
      request.edits = edits_in(value);
    } else if (key == "gradients") {
      request.gradients = value.get<std::vector<std::string>>();
    } else if (key == "gradient_of") {
      request.gradient_of = read_of_json(value);
    } else if (key == "relevance") {
      request.relevance = value.get<std::vector<std::string>>();
    } else if (key == "policy") {
      request.policy = value.get<std::string>();
    } else if (key == "copies") {
      request.copies = integer_in(value);
    } else if (key == "target") {
      request.target = target_from(value);
    } else if (key == "similar_to") {
      request.similar_to = value.get<std::string>();
    } else if (key == "precision") {
      if (value != "double" && value != "single")
        throw InvalidInput("precision is single or double");
      request.precision = value == "double" ? Precision::kDouble : Precision::kSingle;
    } else {
      throw InvalidInput(fmt::format("'{}' is not known", key));
    }
  }
  return request;
}

Json recorded_json(const RecordedArray& array) {
  Json numbers = Json::array();
  for (int64_t i = 0; i < array.size(); ++i) {
    numbers.push_back(array[i]);
  }
  return {{"name", array.name},
          {"axes", array.axes},
          {"shape", array.shape},
          {"numbers", std::move(numbers)}};
}

}  // namespace

std::string to_json(const ProbeRequest& request, int indent) {
  Json json = Json::object();
  json["reads"] = Json::array();
  for (const Read& read : request.reads) json["reads"].push_back(json_of_read(read));
  json["edits"] = Json::parse(edits_to_json(request.edits));
  json["gradients"] = request.gradients;
  if (request.gradient_of) json["gradient_of"] = json_of_read(*request.gradient_of);
  json["relevance"] = request.relevance;
  json["policy"] = request.policy;
  json["copies"] = request.copies;
  json["target"] = target_json(request.target);
  if (request.similar_to) json["similar_to"] = *request.similar_to;
  json["precision"] = request.precision == Precision::kDouble ? "double" : "single";
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

ProbeRequest probe_request_from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (!json.is_object()) throw InvalidInput("it is no object");
    return request_from(json);
  } catch (const nlohmann::json::exception& error) {
    fail_request(error.what());
  } catch (const InvalidInput& error) {
    fail_request(error.what());
  }
}

std::string to_json(const Recording& recording, int indent) {
  Json json{
      {"schema", kRecordingSchema},
      {"model", {{"name", recording.model.name}, {"architecture", recording.model.architecture}}}};
  json["units"] = Json::array();
  for (const Unit& unit : recording.units) json["units"].push_back(unit.text);
  json["edits"] = recording.edits;
  json["output"] = {{"space", recording.output.space},
                    {"labels", recording.output.labels},
                    {"values", recording.output.values}};
  if (recording.outputs.size() > 1) json["outputs"] = recording.outputs;
  json["target"] = {{"index", recording.target.index},
                    {"label", recording.target.label},
                    {"value", recording.target.value}};
  json["values"] = Json::array();
  for (const RecordedArray& array : recording.arrays)
    json["values"].push_back(recorded_json(array));
  json["notes"] = recording.notes;
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace whyformer
