#include <nlohmann/json.hpp>

#include "whyformer/printable.h"
#include "whyformer/relevance.h"
#include "whyformer/report.h"

namespace whyformer {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string to_json(const RelevanceReport& report, int indent) {
  Json steps = Json::array();
  for (const RelevanceStep& step : report.steps) {
    steps.push_back({{"node", step.node},
                     {"operator", step.op},
                     {"rule", step.rule},
                     {"entering", step.entering},
                     {"leaving", step.leaving},
                     {"entering_magnitude", step.entering_magnitude},
                     {"leaving_magnitude", step.leaving_magnitude}});
  }
  const Json json{
      {"model", {{"name", report.model.name}, {"architecture", report.model.architecture}}},
      {"policy", report.policy},
      {"target", {{"index", report.target.index}, {"label", report.target.label}}},
      {"seed", report.seed},
      {"at_first_layer", report.at_first_layer},
      {"at_words", report.at_words},
      {"notes", report.notes},
      {"steps", steps}};
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace whyformer
