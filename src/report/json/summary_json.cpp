// The stable, documented form of a summary: docs/json.md.
#include <nlohmann/json.hpp>

#include "whyformer/printable.h"
#include "whyformer/report.h"
#include "whyformer/summary.h"

namespace whyformer {

using Json = nlohmann::ordered_json;

std::string to_json(const Summary& summary, int indent) {
  Json json{{"schema", Summary::kSchema},
            {"model", {{"name", summary.model.name}, {"architecture", summary.model.architecture}}},
            {"method", summary.method},
            {"target", summary.target.empty() ? Json(nullptr) : Json(summary.target)},
            {"space", summary.space.empty() ? Json(nullptr) : Json(summary.space)},
            {"signed", summary.is_signed},
            {"instances", summary.instances},
            {"order", summary.order == SummaryOrder::kMean ? "mean" : "total"},
            {"others", summary.others},
            {"left_out", summary.left_out},
            {"notes", summary.notes},
            {"rows", Json::array()}};
  for (const SummaryRow& row : summary.rows) {
    Json points = Json::array();
    for (const SummaryPoint& point : row.points) {
      Json entry{{"score", point.score}, {"instance", point.instance}};
      if (point.value) entry["value"] = *point.value;
      if (point.level) entry["level"] = *point.level;
      if (point.category) entry["category"] = point.cell;
      if (point.missing) entry["missing"] = true;
      points.push_back(std::move(entry));
    }
    json["rows"].push_back(
        {{"name", row.name}, {"mean", row.mean}, {"total", row.total}, {"points", points}});
  }
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace whyformer
