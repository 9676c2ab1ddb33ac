// The stable, documented form of compared importances: docs/tables.md.
#include <nlohmann/json.hpp>

#include "whyformer/compared_importances.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;

Json number_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json side_json(const ImportanceSide& side) {
  Json columns = Json::array();
  for (size_t i = 0; i < side.columns.size(); ++i) {
    const RankedImportance& own = side.columns[i];
    columns.push_back({{"name", side.names[i]},
                       {"value", number_json(own.value)},
                       {"low", number_json(own.low)},
                       {"high", number_json(own.high)},
                       {"rank", own.rank ? Json(*own.rank) : Json(nullptr)}});
  }
  return {{"method", side.method}, {"what", side.what}, {"columns", columns}};
}

}  // namespace

std::string to_json(const ComparedImportances& found, int indent) {
  Json json;
  json["schema"] = ComparedImportances::kSchema;
  json["model"] = {{"name", found.model.name}, {"architecture", found.model.architecture}};
  json["rows"] = found.rows;
  json["columns"] = found.columns;
  json["importances"] = Json::array();
  for (const ImportanceSide& side : found.sides) json["importances"].push_back(side_json(side));
  json["seed"] = found.seed;
  json["stopped_early"] = found.stopped_early;
  json["notes"] = found.notes;
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace whyformer
