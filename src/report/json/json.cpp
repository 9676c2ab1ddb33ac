// The stable, documented form of an explanation: docs/json.md and docs/explanation.schema.json.
#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "explanation/panels.h"
#include "report/json/trust_json.h"
#include "report/pages/base64.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;  // keeps keys in the order of the documentation

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json background_json(const std::optional<BackgroundShare>& share) {
  if (!share) return nullptr;
  return {{"below", share->below}, {"equal", share->equal}};
}

// Of a row of a table.
Json cell_json(const Unit& unit) {
  return {{"column", unit.column},   {"kind", unit.category ? "category" : "number"},
          {"value", unit.cell},      {"number", unit.value ? Json(*unit.value) : Json(nullptr)},
          {"missing", unit.missing}, {"background", background_json(unit.background)}};
}

// Whether every method has a score for it, which may be 0.
bool is_covered(const Explanation& explanation, size_t unit) {
  return std::ranges::none_of(explanation.attributions, [&](const Attribution& attribution) {
    return unit < attribution.scores.size() && std::isnan(attribution.scores[unit]);
  });
}

Json units_json(const Explanation& explanation) {
  Json list = Json::array();
  for (const Unit& unit : explanation.units) {
    list.push_back({{"text", unit.text},
                    {"start", unit.start},
                    {"end", unit.end},
                    {"special", unit.special},
                    {"segment", unit.segment},
                    {"word", unit.word}});
    if (unit.row) {
      list.back()["context_row"] = {{"row", *unit.row}, {"value", unit.cell}};
      continue;
    }
    if (unit.column.empty()) continue;
    list.back()["cell"] = cell_json(unit);
    list.back()["cell"]["covered"] = is_covered(explanation, list.size() - 1);
  }
  return list;
}

void add_patches(const PictureView& picture, Json& units) {
  for (size_t unit = 0; unit < units.size(); ++unit) {
    const int64_t patch = static_cast<int64_t>(unit) - picture.first_patch;
    if (patch < 0 || patch >= picture.rows * picture.columns) continue;
    units[unit]["row"] = patch / picture.columns;
    units[unit]["column"] = patch % picture.columns;
  }
}

Json streams_json(const std::vector<UnitStream>& streams) {
  Json list = Json::array();
  for (const UnitStream& stream : streams) {
    list.push_back({{"units", stream.units}, {"first", stream.first}, {"count", stream.count}});
  }
  return list;
}

Json picture_json(const PictureView& picture) {
  return {{"width", picture.width},
          {"height", picture.height},
          {"patches",
           {{"first", picture.first_patch}, {"rows", picture.rows}, {"columns", picture.columns}}},
          {"file", {{"width", picture.file_width}, {"height", picture.file_height}}},
          {"seen",
           {{"left", picture.left},
            {"top", picture.top},
            {"right", picture.right},
            {"bottom", picture.bottom}}}};
}

// Half of what the digits would take, every bit kept.
std::string base64_of(const std::vector<float>& values) {
  std::vector<uint8_t> bytes;
  bytes.reserve(4 * values.size());
  for (const float value : values) {
    const auto bits = std::bit_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<uint8_t>(bits >> shift));
  }
  return report::base64(bytes);
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

Json estimate_json(const Estimate& estimate) {
  Json json{{"space", estimate.space},
            {"base", estimate.base},
            {"value", estimate.value},
            {"errors", estimate.errors},
            {"evaluations", estimate.evaluations},
            {"finished", estimate.finished},
            {"r_squared", or_null(estimate.r_squared)}};
  if (estimate.interactions.empty()) return json;
  const auto units = static_cast<size_t>(std::lround(std::sqrt(estimate.interactions.size())));
  json["interactions"] = Json::array();
  for (size_t unit = 0; unit < units; ++unit) {
    const auto row = estimate.interactions.begin() + static_cast<int64_t>(unit * units);
    json["interactions"].push_back(std::vector<double>(row, row + static_cast<int64_t>(units)));
  }
  return json;
}

Json attribution_json(const Attribution& attribution) {
  Json json{{"method", attribution.method},
            {"options", options_json(attribution.options)},
            {"scores", attribution.scores}};
  if (!attribution.pixels.empty()) json["pixels"] = base64_of(attribution.pixels);
  json["words"] = words_json(attribution.words);
  json["signed"] = attribution.is_signed;
  json["completeness_gap"] = or_null(attribution.completeness_gap);
  json["seed"] = or_null(attribution.seed);
  if (attribution.estimate) json["estimate"] = estimate_json(*attribution.estimate);
  json["cost"] = {{"forwards", attribution.cost.forwards},
                  {"backwards", attribution.cost.backwards},
                  {"seconds", attribution.cost.seconds}};
  if (attribution.trust) json["trust"] = report::trust_json(*attribution.trust);
  json["notes"] = attribution.notes;
  return json;
}

Json refused_json(const std::vector<Refusal>& refused) {
  Json json = Json::array();
  for (const Refusal& one : refused)
    json.push_back({{"method", one.method}, {"reason", one.reason}});
  return json;
}

// Answers are those of the target.
Json context_json(const ContextFacts& facts, int64_t target) {
  Json random{{"contexts", facts.contexts}, {"drawn_from", facts.drawn_from}};
  random["lowest"] = facts.contexts > 0 ? Json(facts.lowest[target]) : Json(nullptr);
  random["highest"] = facts.contexts > 0 ? Json(facts.highest[target]) : Json(nullptr);
  return {{"rows", facts.rows},
          {"from", facts.from},
          {"mode", facts.mode},
          {"hash", facts.hash},
          {"answer", facts.live[target]},
          {"explained", facts.explained[target]},
          {"deviation", std::abs(facts.explained[target] - facts.live[target])},
          {"alone", facts.alone[target]},
          {"equal_rows", facts.equal_rows},
          {"random", std::move(random)}};
}

Json explanation_json(const Explanation& explanation) {
  Json json;
  json["schema"] = Explanation::kSchema;
  json["model"] = {{"name", explanation.model.name},
                   {"architecture", explanation.model.architecture}};
  const std::vector<std::string> texts = input_texts(explanation);
  json["text"] = texts.front();
  if (explanation.row) json["row"] = *explanation.row;
  if (texts.size() > 1) json["pair"] = texts.back();
  Json units = units_json(explanation);
  for (const Panel& panel : panels_of(explanation)) {
    if (panel.picture == nullptr) continue;
    json["picture"] = picture_json(*panel.picture);
    add_patches(*panel.picture, units);
  }
  json["units"] = std::move(units);
  if (!explanation.streams.empty()) json["streams"] = streams_json(explanation.streams);
  if (explanation.context)
    json["context"] = context_json(*explanation.context, explanation.target.index);
  if (!explanation.read_out.empty()) json["read_out"] = explanation.read_out;
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
  if (explanation.trust) json["trust"] = report::trust_setting_json(*explanation.trust);
  if (!explanation.edits.empty()) json["edits"] = explanation.edits;
  if (!explanation.refused.empty()) json["refused"] = refused_json(explanation.refused);
  json["notes"] = explanation.notes;
  return json;
}

}  // namespace

// The writer prints the shortest digits that read back to the same double, and null for NaN and
// infinity; `replace` turns invalid UTF-8 into U+FFFD.
std::string to_json(const Explanation& explanation, int indent) {
  return printable_json(
      explanation_json(explanation).dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace whyformer
