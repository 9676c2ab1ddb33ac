// The stable, documented form of linear probes: docs/learned.md.
#include <nlohmann/json.hpp>

#include "report/views/concepts_view.h"
#include "report/views/learned_view.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

using Json = nlohmann::ordered_json;

Json accuracy_json(const ProbeAccuracy& accuracy) {
  return {{"hits", accuracy.hits},
          {"rows", accuracy.rows},
          {"accuracy", accuracy.share()},
          {"low", accuracy.low},
          {"high", accuracy.high}};
}

Json accuracy_or_null(const std::optional<ProbeAccuracy>& accuracy) {
  return accuracy ? accuracy_json(*accuracy) : Json(nullptr);
}

Json layer_json(const LayerProbe& layer) {
  const auto selectivity = layer.selectivity();
  return {{"layer", layer.layer < 0 ? Json("embeddings") : Json(layer.layer)},
          {"accuracy", accuracy_json(layer.accuracy)},
          {"penalty", layer.penalty ? Json(*layer.penalty) : Json(nullptr)},
          {"shuffled", {{"mean", layer.shuffled}, {"deviation", layer.shuffled_deviation}}},
          {"p", layer.p},
          {"random_weights", accuracy_or_null(layer.random_weights)},
          {"control_task", accuracy_or_null(layer.control_task)},
          {"selectivity", selectivity ? Json(*selectivity) : Json(nullptr)}};
}

}  // namespace
}  // namespace report

std::string to_json(const LearnedReport& found, int indent) {
  using namespace report;
  Json json;
  json["schema"] = LearnedReport::kSchema;
  json["model"] = {{"name", found.model.name}, {"architecture", found.model.architecture}};
  json["unit"] = found.unit;
  json["probe"] = probe_name(found.probe);
  json["tokens"] = report::rows_name(found.rows);
  json["inputs"] = found.inputs;
  json["held_out_inputs"] = found.held_out_inputs;
  json["fitted_rows"] = found.fitted_rows;
  json["labels"] = Json::array();
  for (const auto& [name, rows] : found.labels) {
    json["labels"].push_back({{"name", name}, {"rows", rows}});
  }
  json["majority"] = accuracy_json(found.majority);
  json["shuffles"] = found.shuffles;
  json["seed"] = found.seed;
  json["stopped_early"] = found.stopped_early;
  json["layers"] = Json::array();
  for (const LayerProbe& layer : found.layers) json["layers"].push_back(layer_json(layer));
  json["run_seconds"] = found.run_seconds;
  json["fit_seconds"] = found.fit_seconds;
  json["notes"] = found.notes;
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace whyformer
