// The stable, documented form of head importance: docs/heads.md.
#include <nlohmann/json.hpp>

#include "report/json/roles_json.h"
#include "whyformer/heads.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;

Json measure_json(const HeadScores& scores) {
  Json options = Json::object();
  for (const auto& [name, value] : scores.options) {
    std::visit([&, &key = name](const auto& held) { options[key] = held; }, value);
  }
  return {{"name", scores.measure},
          {"summary", scores.summary},
          {"options", options},
          {"scores", scores.values}};
}

Json pruning_json(const PruningCurve& curve) {
  Json order = Json::array(), steps = Json::array();
  for (const HeadName& name : curve.order) order.push_back({name.layer, name.head});
  for (const PruningStep& step : curve.steps) {
    steps.push_back({{"pruned", step.pruned},
                     {"accuracy", step.accuracy},
                     {"random_accuracy", step.random_accuracy}});
  }
  return {{"measure", curve.measure}, {"keep_one", curve.keep_one},
          {"seed", curve.seed},       {"examples", curve.examples},
          {"order", order},           {"steps", steps}};
}

}  // namespace

std::string to_json(const HeadImportance& importance, int indent) {
  Json json;
  json["schema"] = HeadImportance::kSchema;
  json["model"] = {{"name", importance.model.name},
                   {"architecture", importance.model.architecture}};
  json["kind"] = importance.kind;
  json["examples"] = importance.examples;
  json["tokens"] = importance.tokens;
  json["labelled"] = importance.labelled;
  json["stopped_early"] = importance.stopped_early;
  json["measures"] = Json::array();
  for (const HeadScores& scores : importance.measures) {
    json["measures"].push_back(measure_json(scores));
  }
  json["pruning"] = importance.pruning ? pruning_json(*importance.pruning) : Json(nullptr);
  json["roles"] = importance.roles ? report::roles_json(*importance.roles) : Json(nullptr);
  json["seconds"] = importance.seconds;
  json["notes"] = importance.notes;
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace whyformer
