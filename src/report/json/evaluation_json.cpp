// The stable, documented form of an evaluation: docs/evaluation.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "whyformer/error.h"
#include "whyformer/evaluation.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;

Json finite_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json values_json(const std::vector<MetricValue>& values) {
  Json list = Json::array();
  for (const MetricValue& value : values) list.push_back(finite_or_null(value));
  return list;
}

// By column; null where a column sums no ratios, and the list is left out where none does.
Json ratios_json(const std::vector<std::vector<Ratio>>& ratios) {
  Json list = Json::array();
  for (const std::vector<Ratio>& column : ratios) {
    Json pairs = Json::array();
    for (const Ratio& ratio : column) pairs.push_back({ratio.part, ratio.whole});
    list.push_back(column.empty() ? Json(nullptr) : pairs);
  }
  return list;
}

bool has_ratios(const MeasuredMethod& method) {
  return std::ranges::any_of(method.ratios, [](const auto& column) { return !column.empty(); });
}

std::vector<std::vector<Ratio>> ratios_of(const Json& json) {
  std::vector<std::vector<Ratio>> ratios;
  for (const Json& column : json) {
    ratios.emplace_back();
    if (column.is_null()) continue;
    for (const Json& pair : column) {
      ratios.back().push_back({pair.at(0).get<double>(), pair.at(1).get<double>()});
    }
  }
  return ratios;
}

Json work_json(const Cost& cost) {
  return {{"forwards", cost.forwards}, {"backwards", cost.backwards}, {"seconds", cost.seconds}};
}

Json input_json(const EvaluatedInput& input) {
  Json methods = Json::array(), refused = Json::array();
  for (const MeasuredMethod& one : input.methods) {
    methods.push_back({{"method", one.method},
                       {"values", values_json(one.values)},
                       {"reversed", values_json(one.reversed)},
                       {"cost", work_json(one.cost)}});
    if (!has_ratios(one)) continue;
    methods.back()["ratios"] = ratios_json(one.ratios);
    methods.back()["reversed_ratios"] = ratios_json(one.reversed_ratios);
  }
  for (const Refusal& one : input.refused) {
    refused.push_back({{"method", one.method}, {"reason", one.reason}});
  }
  return {{"name", input.name},
          {"target", input.target},
          {"units", input.units},
          {"problem", input.problem},
          {"methods", methods},
          {"refused", refused},
          {"evaluations", input.evaluations},
          {"seconds", input.seconds},
          {"notes", input.notes}};
}

Json cell_json(const EvaluationCell& cell) {
  return {{"mean", finite_or_null(cell.mean)},
          {"low", cell.interval ? Json(cell.interval->low) : Json(nullptr)},
          {"high", cell.interval ? Json(cell.interval->high) : Json(nullptr)},
          {"reversed", finite_or_null(cell.reversed)},
          {"inputs", cell.inputs},
          {"rank", cell.rank ? Json(*cell.rank) : Json(nullptr)}};
}

Json columns_json(const Evaluation& evaluation) {
  Json list = Json::array();
  for (const EvaluationColumn& column : evaluation.columns) {
    list.push_back({{"metric", column.metric},
                    {"hiding", column.hiding},
                    {"higher_is_better", column.higher_is_better}});
    if (!column.point) continue;
    list.back()["curve"] = column.point->curve;
    list.back()["x"] = column.point->x;
  }
  return list;
}

Json tests_json(const Evaluation& evaluation) {
  Json list = Json::array();
  for (const EvaluationTest& test : evaluation.tests) {
    list.push_back({{"metric", evaluation.columns[test.column].metric},
                    {"hiding", evaluation.columns[test.column].hiding},
                    {"best", test.best},
                    {"other", test.other},
                    {"difference", finite_or_null(test.difference)},
                    {"p_value", finite_or_null(test.p_value)},
                    {"inputs", test.inputs}});
  }
  return list;
}

std::string dumped(const Json& json, int indent) {
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

std::vector<MetricValue> values_of(const Json& json) {
  std::vector<MetricValue> values;
  for (const Json& value : json) {
    values.push_back(value.is_null() ? std::nullopt : MetricValue(value.get<double>()));
  }
  return values;
}

MeasuredMethod method_of(const Json& json) {
  const Json& cost = json.at("cost");
  MeasuredMethod method{.method = json.at("method").get<std::string>(),
                        .values = values_of(json.at("values")),
                        .reversed = values_of(json.at("reversed")),
                        .scores = {},
                        .cost = {cost.at("forwards").get<int>(), cost.at("backwards").get<int>(),
                                 cost.at("seconds").get<double>()}};
  if (json.contains("ratios")) {
    method.ratios = ratios_of(json.at("ratios"));
    method.reversed_ratios = ratios_of(json.at("reversed_ratios"));
  }
  return method;
}

// Quoted where it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string to_json(const EvaluatedInput& input) { return dumped(input_json(input), -1); }

EvaluatedInput evaluated_input_of(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    EvaluatedInput input{.name = json.at("name").get<std::string>(),
                         .target = json.at("target").get<std::string>(),
                         .units = json.at("units").get<int64_t>(),
                         .problem = json.at("problem").get<std::string>(),
                         .evaluations = json.at("evaluations").get<int64_t>(),
                         .seconds = json.at("seconds").get<double>()};
    if (json.contains("notes")) input.notes = json["notes"].get<std::vector<std::string>>();
    for (const Json& one : json.at("methods")) input.methods.push_back(method_of(one));
    for (const Json& one : json.at("refused")) {
      input.refused.push_back(
          {one.at("method").get<std::string>(), one.at("reason").get<std::string>()});
    }
    return input;
  } catch (const nlohmann::json::exception&) {
    throw InvalidInput("this line is not from an evaluation");
  }
}

std::string to_json(const Evaluation& evaluation, int indent) {
  Json json;
  json["schema"] = Evaluation::kSchema;
  json["model"] = {{"name", evaluation.model.name},
                   {"architecture", evaluation.model.architecture}};
  json["protocol"] = evaluation.protocol.empty() ? Json(nullptr) : Json(evaluation.protocol);
  json["columns"] = columns_json(evaluation);
  json["methods"] = Json::array();
  for (size_t i = 0; i < evaluation.methods.size(); ++i) {
    Json cells = Json::array();
    for (const EvaluationCell& cell : evaluation.cells[i]) cells.push_back(cell_json(cell));
    json["methods"].push_back({{"method", evaluation.methods[i]},
                               {"cells", cells},
                               {"cost", work_json(evaluation.costs[i])}});
  }
  json["tests"] = tests_json(evaluation);
  json["inputs"] = Json::array();
  for (const EvaluatedInput& input : evaluation.inputs) json["inputs"].push_back(input_json(input));
  json["seed"] = evaluation.seed;
  json["notes"] = evaluation.notes;
  return dumped(json, indent);
}

std::string to_csv(const Evaluation& evaluation) {
  std::string csv = "input,target,method,metric,hiding,value,reversed\n";
  const auto number = [](const MetricValue& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  for (const EvaluatedInput& input : evaluation.inputs) {
    for (const MeasuredMethod& one : input.methods) {
      for (size_t i = 0; i < evaluation.columns.size() && i < one.values.size(); ++i) {
        csv += fmt::format("{},{},{},{},{},{},{}\n", csv_field(printable(input.name)),
                           csv_field(printable(input.target)), one.method,
                           evaluation.columns[i].metric, evaluation.columns[i].hiding,
                           number(one.values[i]),
                           i < one.reversed.size() ? number(one.reversed[i]) : "");
      }
    }
  }
  return csv;
}

}  // namespace whyformer
