// The stable, documented form of concept tests: docs/tcav.md.
#include <nlohmann/json.hpp>

#include "report/views/concepts_view.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

using Json = nlohmann::ordered_json;

Json sets_json(const std::vector<std::pair<std::string, int64_t>>& sets) {
  Json json = Json::array();
  for (const auto& [name, count] : sets) json.push_back({{"name", name}, {"examples", count}});
  return json;
}

Json held_out_json(const HeldOut& held_out) {
  return {{"accuracy", held_out.accuracy},
          {"deviation", held_out.deviation},
          {"examples", held_out.examples},
          {"p", held_out.p}};
}

Json p_json(const std::optional<CorrectedP>& p) {
  if (!p) return nullptr;
  return {
      {"p", p->p}, {"bonferroni", p->bonferroni}, {"benjamini_hochberg", p->benjamini_hochberg}};
}

void add_sensitivity(const Sensitivity& sensitivity, Json& json) {
  json["score"] = sensitivity.score;
  json["zero"] = sensitivity.zero;
  json["magnitude"] = sensitivity.magnitude;
  json["unit_magnitude"] = sensitivity.unit_magnitude;
}

void leave_out(std::initializer_list<const char*> keys, Json& json) {
  for (const char* key : keys) json[key] = nullptr;
}

Json test_json(const ConceptTest& test) {
  Json json{{"concept", test.concept_name},
            {"layer", test.layer},
            {"target", test.target},
            {"verdict", verdict_name(test.verdict)},
            {"held_out", held_out_json(test.held_out)},
            {"set_size", test.set_size}};
  json["random_mean"] = test.random_mean;
  json["random_deviation"] = test.random_deviation;
  json["random_scores"] = test.random_scores;
  if (test.verdict == Verdict::kNotLearnt) {  // numbers of a direction that is none
    leave_out({"score", "zero", "magnitude", "unit_magnitude", "deviation", "standard_error",
               "scores", "t", "freedom", "t_test", "score_permutation", "magnitude_permutation"},
              json);
    return json;
  }
  add_sensitivity(test.mean, json);
  json["deviation"] = test.deviation;
  json["standard_error"] = test.standard_error;
  json["scores"] = test.scores;
  json["t"] = test.t ? Json(*test.t) : Json(nullptr);
  json["freedom"] = test.t ? Json(test.freedom) : Json(nullptr);
  json["t_test"] = p_json(test.t_test);
  json["score_permutation"] = p_json(test.score_permutation);
  json["magnitude_permutation"] = p_json(test.magnitude_permutation);
  return json;
}

Json pair_json(const ConceptPair& pair) {
  Json json{{"concept", pair.concept_name}, {"against", pair.against},
            {"layer", pair.layer},          {"target", pair.target},
            {"learnt", pair.learnt},        {"held_out", held_out_json(pair.held_out)}};
  if (!pair.learnt) {
    leave_out({"score", "zero", "magnitude", "unit_magnitude", "standard_error"}, json);
    return json;
  }
  add_sensitivity(pair.sensitivity, json);
  json["standard_error"] = pair.standard_error;
  return json;
}

}  // namespace
}  // namespace report

std::string to_json(const ConceptReport& found, int indent) {
  using namespace report;
  Json json;
  json["schema"] = ConceptReport::kSchema;
  json["model"] = {{"name", found.model.name}, {"architecture", found.model.architecture}};
  json["unit"] = found.unit;
  json["rows"] = rows_name(found.rows);
  json["layers"] = found.layers;
  json["concepts"] = sets_json(found.concepts);
  json["random"] = sets_json(found.random);
  json["targets"] = sets_json(found.targets);
  json["counterparts"] = found.counterparts;
  json["permutations"] = found.permutations;
  json["strength"] = found.strength;
  json["level"] = found.level;
  json["seed"] = found.seed;
  json["tests"] = Json::array();
  for (const ConceptTest& test : found.tests) json["tests"].push_back(test_json(test));
  json["pairs"] = Json::array();
  for (const ConceptPair& pair : found.pairs) json["pairs"].push_back(pair_json(pair));
  json["runs"] = found.runs;
  json["fits"] = found.fits;
  json["run_seconds"] = found.run_seconds;
  json["fit_seconds"] = found.fit_seconds;
  json["notes"] = found.notes;
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace whyformer
