// The stable, documented form of patching: docs/patching.md.
#include <cmath>
#include <nlohmann/json.hpp>

#include "whyformer/patching.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;

// A row of the grid each; null where a cell has no number.
Json matrix_json(const EffectGrid& grid, const std::vector<double>& cells) {
  if (cells.empty()) return nullptr;
  Json rows = Json::array();
  for (size_t row = 0; row < grid.rows.size(); ++row) {
    Json numbers = Json::array();
    for (size_t column = 0; column < grid.columns.size(); ++column) {
      const double cell = cells[row * grid.columns.size() + column];
      numbers.push_back(std::isfinite(cell) ? Json(cell) : Json(nullptr));
    }
    rows.push_back(std::move(numbers));
  }
  return rows;
}

Json grid_json(const EffectGrid& grid) {
  return {{"kind", grid.kind},
          {"row_axis", grid.row_axis},
          {"column_axis", grid.column_axis},
          {"rows", grid.rows},
          {"columns", grid.columns},
          {"effects", matrix_json(grid, grid.effects)},
          {"changes", matrix_json(grid, grid.changes)},
          {"errors", matrix_json(grid, grid.errors)},
          {"previews", matrix_json(grid, grid.previews)},
          {"preview_rank", grid.preview_rank ? Json(*grid.preview_rank) : Json(nullptr)}};
}

Json input_json(const Explanation& shown) {
  Json units = Json::array();
  for (const Unit& unit : shown.units) units.push_back(unit.text);
  return {{"text", shown.text},
          {"pair", shown.pair ? Json(*shown.pair) : Json(nullptr)},
          {"units", std::move(units)},
          {"output",
           {{"space", shown.output.space},
            {"labels", shown.output.labels},
            {"values", shown.output.values}}}};
}

}  // namespace

std::string to_json(const PatchReport& report, int indent) {
  Json json;
  json["schema"] = PatchReport::kSchema;
  json["model"] = {{"name", report.model.name}, {"architecture", report.model.architecture}};
  json["analysis"] = report.analysis;
  json["target"] = report.target;
  json["against"] = report.against.empty() ? Json(nullptr) : Json(report.against);
  json["metric"] = report.metric;
  json["clean"] = input_json(report.clean);
  json["clean"]["value"] = report.clean_value;
  json["corrupted"] = report.corrupted ? input_json(*report.corrupted) : Json(nullptr);
  json["corrupted_value"] = report.corrupted_value ? Json(*report.corrupted_value) : Json(nullptr);
  json["effects_are_shares"] = report.effects_are_shares;
  json["grids"] = Json::array();
  for (const EffectGrid& grid : report.grids) json["grids"].push_back(grid_json(grid));
  json["cost"] = {{"forwards", report.cost.forwards},
                  {"backwards", report.cost.backwards},
                  {"seconds", report.cost.seconds}};
  json["stopped_early"] = report.stopped_early;
  json["notes"] = report.notes;
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace whyformer
