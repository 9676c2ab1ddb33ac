// The stable, documented form of the agreement of methods: docs/evaluation.md.
#include <nlohmann/json.hpp>

#include "whyformer/method_agreement.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;

Json cells_json(const AgreementCells& cells) {
  Json json = Json::object();
  for (size_t i = 0; i < cells.size(); ++i) {
    const AgreementCell& cell = cells[i];
    json[kAgreementMeasures[i]] = {
        {"mean", cell.mean ? Json(*cell.mean) : Json(nullptr)},
        {"low", cell.interval ? Json(cell.interval->low) : Json(nullptr)},
        {"high", cell.interval ? Json(cell.interval->high) : Json(nullptr)},
        {"inputs", cell.inputs}};
  }
  return json;
}

}  // namespace

std::string to_json(const AgreementReport& report, int indent) {
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
  json["seed"] = report.seed;
  json["notes"] = report.notes;
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace whyformer
