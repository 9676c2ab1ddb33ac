// The stable, documented form of the agreement of methods: docs/evaluation.md.
#include <nlohmann/json.hpp>

#include "whyformer/method_agreement.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;

Json number_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json cells_json(const AgreementCells& cells) {
  Json json = Json::object();
  for (size_t i = 0; i < cells.size(); ++i) {
    const AgreementCell& cell = cells[i];
    json[kAgreementMeasures[i]] = {
        {"mean", number_json(cell.mean)},
        {"low", cell.interval ? Json(cell.interval->low) : Json(nullptr)},
        {"high", cell.interval ? Json(cell.interval->high) : Json(nullptr)},
        {"deviation", number_json(cell.deviation)},
        {"inputs", cell.inputs},
        {"left_out", cell.left_out},
        {"one_unit", cell.one_unit}};
  }
  return json;
}

// Between mean |scores|, and Spearman's correlation of each column over the inputs.
Json column_json(const AgreementReport& report) {
  Json pairs = Json::array();
  for (size_t a = 0; a < report.by_column.size(); ++a) {
    for (size_t b = a + 1; b < report.by_column.size(); ++b) {
      const ColumnAgreement& found = report.by_column[a][b];
      Json each = Json::object();
      for (size_t column = 0; column < found.each.size(); ++column)
        each[report.columns[column]] = number_json(found.each[column]);
      Json pair = {{"a", report.methods[a]}, {"b", report.methods[b]}};
      pair["means"] = cells_json(found.means);
      pair["each"] = each;
      pairs.push_back(pair);
    }
  }
  return pairs;
}

Json spreads_json(const AgreementSpreads& spreads) {
  Json json = Json::object();
  for (size_t i = 0; i < spreads.size(); ++i) {
    const auto& spread = spreads[i];
    json[kAgreementMeasures[i]] = !spread ? Json(nullptr)
                                          : Json{{"mean", spread->mean},
                                                 {"deviation", number_json(spread->deviation)},
                                                 {"min", spread->least},
                                                 {"max", spread->most},
                                                 {"models", spread->models}};
  }
  return json;
}

Json report_json(const AgreementReport& report) {
  Json json;
  json["schema"] = AgreementReport::kSchema;
  json["model"] = {{"name", report.model.name}, {"architecture", report.model.architecture}};
  json["inputs"] = report.inputs;
  json["methods"] = report.methods;
  json["pairs"] = Json::array();
  for (size_t a = 0; a < report.methods.size(); ++a) {
    for (size_t b = a + 1; b < report.methods.size(); ++b) {
      Json pair = {{"a", report.methods[a]}, {"b", report.methods[b]}};
      pair.update(cells_json(report.pairs[a][b]));
      json["pairs"].push_back(pair);
    }
  }
  json["ceiling"] = Json::array();
  for (size_t a = 0; a < report.methods.size(); ++a) {
    Json own = {{"method", report.methods[a]}};
    own.update(cells_json(report.ceiling[a]));
    json["ceiling"].push_back(own);
  }
  json["floor"] = cells_json(report.floor);
  json["chance_of_top_k"] = number_json(report.chance_of_top_k);
  json["columns"] = report.columns;
  json["by_column"] = column_json(report);
  json["seed"] = report.seed;
  json["notes"] = report.notes;
  return json;
}

std::string text_of(const Json& json, int indent) {
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string to_json(const AgreementReport& report, int indent) {
  return text_of(report_json(report), indent);
}

std::string to_json(const AgreementOverModels& found, int indent) {
  Json json;
  json["schema"] = AgreementOverModels::kSchema;
  json["methods"] = found.methods;
  json["spread"] = Json::array();
  for (size_t a = 0; a < found.methods.size(); ++a) {
    for (size_t b = a + 1; b < found.methods.size(); ++b) {
      json["spread"].push_back({{"a", found.methods[a]},
                                {"b", found.methods[b]},
                                {"inputs", spreads_json(found.pairs[a][b])},
                                {"columns", spreads_json(found.columns[a][b])}});
    }
  }
  json["models"] = Json::array();
  for (const AgreementReport& report : found.models) json["models"].push_back(report_json(report));
  return text_of(json, indent);
}

}  // namespace whyformer
