// The stable, documented form of an explanation: docs/json.md and docs/explanation.schema.json.
#include <nlohmann/json.hpp>

#include "whyformer/report.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;  // keeps keys in the order of the documentation

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json units_json(const std::vector<Unit>& units) {
  Json list = Json::array();
  for (const Unit& unit : units) {
    list.push_back({{"text", unit.text},
                    {"start", unit.start},
                    {"end", unit.end},
                    {"special", unit.special},
                    {"segment", unit.segment},
                    {"word", unit.word}});
  }
  return list;
}

Json options_json(const Options& options) {
  Json object = Json::object();
  for (const auto& [name, value] : options) {
    std::visit([&, &key = name](const auto& held) { object[key] = held; }, value);
  }
  return object;
}

Json words_json(const std::vector<WordScore>& words) {
  Json list = Json::array();
  for (const WordScore& word : words) {
    list.push_back({{"text", word.text},
                    {"start", word.start},
                    {"end", word.end},
                    {"score", word.score},
                    {"segment", word.segment}});
  }
  return list;
}

Json attribution_json(const Attribution& attribution) {
  return {{"method", attribution.method},
          {"options", options_json(attribution.options)},
          {"scores", attribution.scores},
          {"words", words_json(attribution.words)},
          {"signed", attribution.is_signed},
          {"completeness_gap", or_null(attribution.completeness_gap)},
          {"seed", or_null(attribution.seed)},
          {"cost",
           {{"forwards", attribution.cost.forwards},
            {"backwards", attribution.cost.backwards},
            {"seconds", attribution.cost.seconds}}},
          {"notes", attribution.notes}};
}

Json explanation_json(const Explanation& explanation) {
  Json json;
  json["schema"] = Explanation::kSchema;
  json["model"] = {{"name", explanation.model.name},
                   {"architecture", explanation.model.architecture}};
  json["text"] = explanation.text;
  if (explanation.pair) json["pair"] = *explanation.pair;
  json["units"] = units_json(explanation.units);
  json["output"] = {{"space", explanation.output.space},
                    {"values", explanation.output.values},
                    {"labels", explanation.output.labels}};
  json["target"] = {{"index", explanation.target.index},
                    {"label", explanation.target.label},
                    {"value", explanation.target.value},
                    {"probability", or_null(explanation.target.probability)}};
  json["attributions"] = Json::array();
  for (const Attribution& attribution : explanation.attributions) {
    json["attributions"].push_back(attribution_json(attribution));
  }
  json["notes"] = explanation.notes;
  return json;
}

}  // namespace

// The writer prints the shortest digits that read back to the same double, and null for NaN and
// infinity; `replace` turns invalid UTF-8 into U+FFFD.
std::string to_json(const Explanation& explanation, int indent) {
  return explanation_json(explanation).dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace whyformer
