#include "report/pages/page_data.h"
#include "report/json/trust_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/views/estimate_view.h"
#include "report/views/row_view.h"
#include "report/views/text.h"
#include "report/views/trust_view.h"
#include "report/views/view.h"
#include "report/views/waterfall.h"

namespace whyformer::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostAnswers = 10;

// Blanks stay as they are: the page keeps line breaks of the text.
std::string visible_gap(const std::string& gap) {
  return gap.find_first_not_of(" \n\t\r") == std::string::npos ? gap : printable(gap);
}

// Columns of a table and rows of a context are no places of a text, and stand apart all the same.
std::string gap_of_row(const std::vector<TextPiece>& pieces, size_t i) {
  return i == 0 ? "" : pieces[i - 1].special ? " " : ", ";
}

// Columns of a table go by their names alone: the page shows their cells beside them.
Json pieces_json(const Explanation& explanation) {
  Json list = Json::array();
  const bool row = is_row(explanation);
  const std::vector<TextPiece> pieces = pieces_of(explanation);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const TextPiece& piece = pieces[i];
    list.push_back(
        {{"gap", row ? gap_of_row(pieces, i) : visible_gap(piece.gap)},
         {"text", printable(row && !piece.special ? explanation.units[i].column : piece.text)},
         {"after", row ? "" : visible_gap(piece.after)},
         {"token", printable(explanation.units[i].text)},
         {"special", piece.special},
         {"segment", piece.segment},
         {"word", explanation.units[i].word}});
  }
  return list;
}

Json word_scores_json(const Attribution& attribution) {
  if (attribution.words.empty()) return nullptr;
  Json list = Json::array();
  for (const WordScore& word : attribution.words) list.push_back(word.score);
  return list;
}

Json scale_json(const Scale& scale) { return {{"pieces", scale.pieces}, {"words", scale.items}}; }

Json force_json(const ForceBar& bar) {
  Json segments = Json::array();
  for (const ForceSegment& segment : bar.segments) {
    segments.push_back({{"text", printable(segment.text)},
                        {"unit", segment.first_unit},
                        {"score", segment.score},
                        {"from", segment.from},
                        {"to", segment.to}});
  }
  return {{"base", bar.base},
          {"value", bar.value},
          {"low", bar.low},
          {"high", bar.high},
          {"ticks", bar.ticks},
          {"decimals", bar.decimals},
          {"base_text", format_place(bar.base, bar)},
          {"value_text", format_place(bar.value, bar)},
          {"segments", segments}};
}

Json interactions_json(const Interactions& interactions) {
  Json names = Json::array(), values = Json::array();
  for (const std::string& name : interactions.names) names.push_back(printable(name));
  for (const Interactions::Pair& pair : interactions.pairs) values.push_back(pair.value);
  return {{"names", names},
          {"units", interactions.units},
          {"values", values},
          {"scale", interactions.scale}};
}

Json waterfall_json(const Waterfall& fall) {
  Json steps = Json::array();
  for (const WaterfallStep& step : fall.steps) {
    steps.push_back({{"text", printable(step.text)},
                     {"score", step.score},
                     {"from", step.from},
                     {"to", step.to}});
  }
  const auto said = [&](double place) {
    return format_score(place, fall.scale, ScoreKind::kMagnitude);
  };
  return {{"base", fall.base},
          {"value", fall.value},
          {"low", fall.axis.low},
          {"high", fall.axis.high},
          {"ticks", ticks_of(fall.axis)},
          {"base_text", said(fall.base)},
          {"value_text", said(fall.value)},
          {"steps", steps}};
}

Json row_json(const Explanation& explanation) {
  Json list = Json::array();
  for (const RowColumn& column : row_columns(explanation)) {
    const Unit& unit = explanation.units[column.unit];
    Json background = nullptr;
    if (unit.background) {
      background = {{"below", unit.background->below},
                    {"equal", unit.background->equal},
                    {"said", column.background}};
    }
    list.push_back({{"unit", column.unit},
                    {"name", printable(column.name)},
                    {"cell", printable(column.cell)},
                    {"kind", column.kind},
                    {"missing", unit.missing},
                    {"background", background}});
  }
  return list;
}

// Infinite ones become null; "none" is where nothing was estimated.
Json errors_json(const std::vector<double>& errors) {
  Json list = Json::array();
  for (const double error : errors) list.push_back(std::isnan(error) ? Json("none") : Json(error));
  return list;
}

Json estimate_json(const Attribution& attribution) {
  if (!attribution.estimate) return nullptr;
  return {{"line", printable(estimate_line(attribution))},
          {"errors", errors_json(attribution.estimate->errors)}};
}

Json methods_json(const Explanation& explanation) {
  Json list = Json::array();
  for (const Attribution& attribution : explanation.attributions) {
    list.push_back(token_method_json(explanation, attribution, SpecialTokens::kShow));
  }
  return list;
}

Json labels_json(const Explanation& explanation) {
  Json list = Json::array();
  for (const LabelValue& answer : best_labels(explanation, kMostAnswers)) {
    list.push_back(label_json(answer));
  }
  return list;
}

Json ramps_json() {
  Json ramps;
  for (const auto& [name, palette] :
       {std::pair{"light", &kLightPalette}, {"dark", &kDarkPalette}}) {
    Json stops = Json::array();
    for (const Colour colour : palette->attention) {
      stops.push_back({colour.red, colour.green, colour.blue});
    }
    ramps[name] = {{"attention", stops},
                   {"ink", css(palette->ink)},
                   {"faint", css(palette->faint_ink)},
                   {"paper", css(palette->paper)},
                   {"negative", css(palette->negative)}};
  }
  return ramps;
}

const char* special_name(SpecialTokens special) {
  switch (special) {
    case SpecialTokens::kShow:
      return "show";
    case SpecialTokens::kHide:
      return "hide";
    case SpecialTokens::kExclude:
      break;
  }
  return "exclude";
}

}  // namespace

Json label_json(const LabelValue& answer) {
  return {{"label", printable(answer.label)},
          {"value", answer.value},
          {"probability", answer.probability ? Json(*answer.probability) : Json(nullptr)},
          {"target", answer.is_target}};
}

Json method_json(const Explanation& explanation, const Attribution& attribution,
                 SpecialTokens counted) {
  Json notes = Json::array();
  for (const std::string& note : attribution.notes) notes.push_back(printable(note));
  Json trust = nullptr;
  if (attribution.trust) {
    trust = trust_json(*attribution.trust);
    trust["lines"] = trust_lines(attribution);
  }
  return {
      {"trust", trust},
      {"name", printable(attribution.method)},
      {"info", printable(cost_line(attribution))},
      {"notes", notes},
      {"signed", attribution.is_signed},
      {"estimate", estimate_json(attribution)},
      {"scores", attribution.scores},
      {"words", word_scores_json(attribution)},
      {"scale", scale_json(scale_of(explanation, attribution, counted))},
      {"scale_of_text", scale_json(scale_of(explanation, attribution, SpecialTokens::kExclude))}};
}

Json token_method_json(const Explanation& explanation, const Attribution& attribution,
                       SpecialTokens counted) {
  Json json = method_json(explanation, attribution, counted);
  if (!attribution.estimate) return json;
  const auto bar = force_bar(explanation, attribution);
  const auto interactions = interactions_of(explanation, attribution);
  json["estimate"]["force"] = bar ? force_json(*bar) : Json(nullptr);
  json["estimate"]["interactions"] =
      interactions ? interactions_json(*interactions) : Json(nullptr);
  const auto fall = is_row(explanation) ? waterfall_of(explanation, attribution) : std::nullopt;
  if (fall) json["estimate"]["waterfall"] = waterfall_json(*fall);
  return json;
}

Json page_attention_json(const PackedAttention& attention) {
  Json list = Json::array();
  for (const PackedMap& map : attention.maps) {
    list.push_back({{"name", printable(map.name)},
                    {"layer", map.layer},
                    {"heads", map.heads},
                    {"queries", map.queries},
                    {"keys", map.keys},
                    {"bits", map.bits},
                    {"top", map.top}});
  }
  return {{"maps", list}, {"averaged", attention.averaged}, {"note", attention.note}};
}

Json page_json(const Explanation& explanation, const ReportOptions& options) {
  Json notes = Json::array();
  for (const std::string& note : explanation.notes) notes.push_back(printable(note));
  for (const std::string& line : trust_setting_lines(explanation)) notes.push_back(line);
  return {
      {"model", printable(explanation.model.name)},
      {"architecture", printable(explanation.model.architecture)},
      {"space", printable(explanation.output.space)},
      {"label_count", explanation.output.values.size()},
      {"special", special_name(options.special)},
      {"pair", input_texts(explanation).size() > 1},
      {"pieces", pieces_json(explanation)},
      {"palettes", ramps_json()},
      {"trust", explanation.trust ? Json(trust_setting_json(*explanation.trust)) : Json(nullptr)},
      {"notes", notes}};
}

std::string page_data(const Explanation& explanation, const PackedAttention& attention,
                      const ReportOptions& options) {
  Json data = page_json(explanation, options);
  if (is_row(explanation)) {
    data["row"] = row_json(explanation);
    data["unit"] = unit_word(explanation);
  }
  data["answers"] = labels_json(explanation);
  data["target"] = label_json(target_label(explanation));
  data["methods"] = methods_json(explanation);
  data["attention"] = page_attention_json(attention);
  return data.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace whyformer::report
